// Copies of the files of nodes on other hosts of the cluster, from which a node is made again elsewhere when its host is lost. A file is
// stored under a name that follows from its path, size and time, so that only what changed is fetched again.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as v from 'valibot';
import {
  CheckpointManifest,
  checksumsOf,
  DISK_CHECKPOINT,
  DISK_MANIFEST,
  isOfCheckpoint,
  LARGEST_DISKS_BYTES,
  MOST_CHUNKS,
  restoredPath,
} from '../../api/disk-checkpoint.ts';
import { nodeKind } from '../../api/kinds/kinds.ts';
import { conflict, messageOf } from '../../failures.ts';
import { writeFileAtomically } from '../../host/files/atomic-file.ts';
import { namesIn } from '../../host/files/directories.ts';
import { isBelow } from '../../host/files/relative-path.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { fetchFile, filePath, sendFile } from '../computes/project-files.ts';
import type { Restored } from '../lab/node-moves.ts';
import type { Project } from '../lab/project.ts';
import { takeCheckpoint } from '../nodes/checkpoint.ts';
import type { Node } from '../nodes/node.ts';
import type { Projects } from '../projects/projects.ts';
import type { ImageCopies } from './image-copies.ts';

const MIB = 2 ** 20;
/** Larger files, which are disks mostly, are left out. */
const LARGEST_FILE_BYTES = 16 * MIB;
const LARGEST_NODE_BYTES = 64 * MIB;
/** Copies of disks are checked by each compute, too; larger ones of others are left out. */
const LARGEST_DISKS = { bytes: LARGEST_DISKS_BYTES + MIB, files: MOST_CHUNKS + 1 };
const LARGEST_BYTES = 2048 * MIB;
const DISKS_AT_ONCE = 2;
/** Of a node. */
const MOST_FILES = 2_000;

const Listing = v.array(v.object({ path: v.string(), size: v.number(), modified: v.number() }));
type Listed = v.InferOutput<typeof Listing>[number];

const MANIFEST = 'manifest.json';
const Manifest = v.object({
  taken: v.string(),
  files: v.array(v.object({ path: v.string(), key: v.string(), size: v.number() })),
  missing: v.number(),
});
type Manifest = v.InferOutput<typeof Manifest>;

interface Fetching {
  /** By how many bytes the copies may grow. */
  left: number;
  former: ReadonlyMap<string, Manifest['files'][number]>;
  directory: string;
  most: { bytes: number; files: number };
}

export interface CheckpointsOptions {
  /** Holds a folder for each project and node. */
  directory: string;
  /** Between two rounds. */
  milliseconds: number;
  computes: Computes;
  projects: Projects;
  /** Whether the nodes of this host are copied, too. */
  copiesAll: boolean;
  /** Without them no other host can run the nodes. */
  images: ImageCopies;
}

export class Checkpoints {
  readonly #options: CheckpointsOptions;
  /** When the files of a node were last found as its checkpoint has them. */
  readonly #confirmed = new WeakMap<Node, Date>();
  /** Last reported problem by host. */
  readonly #problems = new Map<string, string>();
  /** When the files of all nodes of a host were last copied. */
  readonly #taken = new WeakMap<Compute, Date>();
  readonly #diskProblems = new WeakMap<Node, string>();
  #copying: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#round().finally(() => this.start()), this.#options.milliseconds).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Copies what changed on all hosts. Never rejects. */
  async #round(): Promise<void> {
    const { computes, projects, directory } = this.#options;
    const hosts = computes.list().filter((compute) => this.#isCopied(compute));
    if (hosts.length === 0) return;
    // Not awaited: large images take longer than a round.
    this.#copying ??= this.#options.images.round().finally(() => {
      this.#copying = undefined;
    });
    try {
      await this.#removeOld();
      let left = LARGEST_BYTES - (await bytesBelow(directory));
      for (const compute of hosts.filter(({ connected }) => connected)) {
        const begin = new Date();
        let isWhole = true;
        for (const project of projects.list().filter(({ isOpen }) => isOpen)) {
          if (project.nodesOn(compute).length === 0) continue;
          const problem = await this.#take(project, compute, left).then((bytes) => {
            left -= bytes;
            return '';
          }, messageOf);
          this.#report(compute, problem);
          isWhole &&= problem === '';
        }
        if (isWhole) this.#taken.set(compute, begin);
      }
    } catch (error) {
      log.warn('checkpoints cannot be taken', { reason: messageOf(error) });
    }
  }

  /** When the files of all nodes of a host were last copied, apart from those that are too large. */
  lastOf(compute: Compute): Date | undefined {
    return this.#taken.get(compute);
  }

  #report({ id, name }: Compute, problem: string): void {
    if (problem !== '' && problem !== this.#problems.get(id))
      log.warn('the files of nodes on a host are not copied', { host: name, reason: problem });
    this.#problems.set(id, problem);
  }

  /** Returns by how many bytes the copies have grown. */
  async #take(project: Project, compute: Compute, left: number): Promise<number> {
    const nodes = project.nodesOn(compute).filter((node) => isCopied(node) && !node.leaving);
    await eachOf(nodes, DISKS_AT_ONCE, (node) => this.#takeDisks(node));
    const answer = await compute.get(`/projects/${project.id}/files?details=yes`, { connect: false });
    const listing = v.safeParse(Listing, answer);
    if (!listing.success) throw conflict('it runs an older release, which does not list files so');
    const known = new Set(await namesIn(join(this.#options.directory, project.id)));
    let taken = 0;
    for (const node of nodes) {
      const folder = `/project-files/${node.type}/${node.id}`;
      const files = listing.output.filter(({ path }) => isBelow(folder, `/${path}`));
      // Most nodes of a large lab have no files.
      if (files.length > 0 || known.has(node.id)) taken += await this.#copy(project, node, files, left - taken);
    }
    return taken;
  }

  /** Asks the compute to copy the node's disks into the folder of it. Never rejects. */
  async #takeDisks(node: Node): Promise<void> {
    if (!nodeKind(node.type).checkpointCovers) return;
    const problem = await takeCheckpoint(node).then(() => '', messageOf);
    if (problem !== '' && problem !== this.#diskProblems.get(node))
      log.warn('the copy of a node is not renewed', { node: node.name, host: node.compute.name, reason: problem });
    this.#diskProblems.set(node, problem);
  }

  async #copy(project: Project, node: Node, listed: readonly Listed[], left: number): Promise<number> {
    const directory = this.#place(project.id, node.id);
    const before = await manifestOf(directory);
    const former = new Map(before?.files.map((file) => [file.path, file]));
    const { checkpointCovers } = nodeKind(node.type);
    const isOfDisks = ({ path }: { path: string }): boolean => checkpointCovers !== undefined && isOfCheckpoint(path);
    const formerDisks = before?.files.filter(isOfDisks) ?? [];
    const isTaken = !this.#diskProblems.get(node);
    const found = isTaken ? listed.filter(isOfDisks) : [];
    const disks = await this.#fetchAll(project, node, found, { left, former, directory, most: LARGEST_DISKS });
    const isCurrent =
      isTaken &&
      disks.missing + disks.outdated === 0 &&
      (disks.fetched === 0 || (await isWhole(directory, disks.files)));
    // Parts of different moments would be no disk.
    if (!isCurrent) disks.files = formerDisks;
    const isCovered = (path: string): boolean => disks.files.length > 0 && checkpointCovers?.(basename(path)) === true;
    const rest = listed.filter((file) => {
      const { path } = file;
      return !path.includes(`/${DISK_CHECKPOINT}/`) && !isOfDisks(file) && !isCovered(path);
    });
    const plain = rest.filter(({ path }) => node.status === 'stopped' || checkpointCovers?.(basename(path)) !== true);
    const others = await this.#fetchAll(project, node, plain, {
      ...{ left: left - disks.bytes, former, directory },
      most: { bytes: LARGEST_NODE_BYTES, files: MOST_FILES },
    });
    const files = [...disks.files, ...others.files];
    const fetched = disks.fetched + others.fetched;
    const missing = rest.length - others.files.length;
    const isConfirmed = isCurrent && others.outdated === 0;
    const now = new Date();
    if (before?.missing !== missing || before.files.length !== files.length || fetched > 0) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeFileAtomically(
        join(directory, MANIFEST),
        JSON.stringify({
          taken: isConfirmed || !before ? now.toISOString() : before.taken,
          files,
          missing,
        } satisfies Manifest),
      );
      const kept = new Set([MANIFEST, ...files.map(({ key }) => key)]);
      for (const name of await readdir(directory)) if (!kept.has(name)) await rm(join(directory, name));
    }
    if (isConfirmed) this.#confirmed.set(node, now);
    return disks.bytes + others.bytes;
  }

  /** Fetches files that the former copy does not have. `bytes`: by how much the copy grows. */
  async #fetchAll(
    project: Project,
    node: Node,
    listed: readonly Listed[],
    { left, former, directory, most }: Fetching,
  ): Promise<{ files: Manifest['files']; fetched: number; bytes: number; outdated: number; missing: number }> {
    const files: Manifest['files'] = [];
    let [total, fetched, bytes, outdated] = [0, 0, 0, 0];
    // Always in one order, so that what is left out stays the same.
    for (const { path, size, modified } of listed.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      if (size > LARGEST_FILE_BYTES || total + size > most.bytes || files.length === most.files) continue;
      const key = createHash('sha256').update(`${path}\n${size}\n${modified}`).digest('hex');
      let file = former.get(path);
      if (file?.key !== key) {
        const growth = size - (file?.size ?? 0);
        const hasRoom = bytes + growth <= left;
        // One that changes while it is read stays as it was, as one without room does; a later round has it.
        if (hasRoom && (await this.#fetch(project, node.compute, path, { directory, key, size }))) {
          file = { path, key, size };
          fetched += 1;
          bytes += growth;
        } else if (file) outdated += 1;
      }
      if (!file) continue;
      total += file.size;
      files.push(file);
    }
    return { files, fetched, bytes, outdated, missing: listed.length - files.length };
  }

  /** Returns false if the file is not as it was listed any more. */
  async #fetch(
    project: Project,
    compute: Compute,
    path: string,
    { directory, key, size }: { directory: string; key: string; size: number },
  ): Promise<boolean> {
    const content = await fetchFile(compute, filePath(project.id, path));
    if (!content) return false;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const unfinished = join(directory, `${key}.unfinished`);
    try {
      await pipeline(content, upTo(size), createWriteStream(unfinished, { mode: 0o600, flush: true }));
      if ((await stat(unfinished)).size !== size) return false;
      await rename(unfinished, join(directory, key));
      return true;
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  /** Sends the last copy of a node's files to a host that has its project. Undefined if there is none, or no file in it. */
  async restore(project: Project, node: Node, target: Compute): Promise<Restored | undefined> {
    const directory = this.#place(project.id, node.id);
    const manifest = await manifestOf(directory);
    // Without files the texts of its creation are all that there is.
    if (!manifest || manifest.files.length === 0) return undefined;
    let { missing } = manifest;
    for (const { path: from, key } of manifest.files) {
      const path = nodeKind(node.type).checkpointCovers ? restoredPath(from) : from;
      const copy = await open(join(directory, key)).catch(() => undefined);
      // If the upload is rejected, nothing may have read and closed the file.
      await using opened = copy;
      if (opened) await sendFile(target, filePath(project.id, path), opened.createReadStream({ autoClose: false }));
      else missing += 1;
    }
    return { taken: this.#confirmed.get(node) ?? new Date(manifest.taken), missing };
  }

  /** Whether the nodes of a host are copied: of all that are in the cluster, as far as is known yet. */
  #isCopied(compute: Compute): boolean {
    return compute.place !== undefined && !this.#isExcluded(compute);
  }

  #isExcluded({ id }: Compute): boolean {
    return id === 'local' && !this.#options.copiesAll;
  }

  /** Copies of projects that are gone, and of nodes that are deleted or on this host now. */
  async #removeOld(): Promise<void> {
    const { directory, projects } = this.#options;
    for (const projectId of await namesIn(directory)) {
      const project = projects.find(projectId);
      // The nodes of one that is being opened are not known yet.
      if (project && project.state !== 'opened') continue;
      for (const nodeId of await namesIn(join(directory, projectId))) {
        const compute = project?.nodes.get(nodeId)?.compute;
        if (!compute || this.#isExcluded(compute))
          await rm(this.#place(projectId, nodeId), { recursive: true, force: true });
      }
      if (!project) await rm(join(directory, projectId), { recursive: true, force: true });
    }
  }

  #place(projectId: string, nodeId: string): string {
    return join(this.#options.directory, projectId, nodeId);
  }
}

function isCopied(node: Node): boolean {
  const { staysOnHost, whileRunning, checkpointCovers } = nodeKind(node.type);
  return !staysOnHost && (whileRunning === undefined || checkpointCovers !== undefined || node.status === 'stopped');
}

/** Ends after the first piece that exceeds the size: a host may send more than it has listed. */
function upTo(size: number) {
  return async function* (content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of content) {
      yield piece;
      bytes += piece.length;
      if (bytes > size) return;
    }
  };
}

/** Whether the manifest of the disks, which may have changed while it was fetched, names existing parts alone. */
async function isWhole(directory: string, files: Manifest['files']): Promise<boolean> {
  const manifest = files.find(({ path }) => basename(path) === DISK_MANIFEST);
  if (!manifest) return false;
  const there = new Set(files.map(({ path }) => basename(path)));
  try {
    const disks = v.parse(CheckpointManifest, JSON.parse(await readFile(join(directory, manifest.key), 'utf8')));
    return [...checksumsOf(disks)].every((name) => there.has(name));
  } catch {
    return false;
  }
}

async function manifestOf(directory: string): Promise<Manifest | undefined> {
  const text = await readFile(join(directory, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return v.parse(Manifest, JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function bytesBelow(directory: string): Promise<number> {
  let bytes = 0;
  for (const project of await namesIn(directory)) {
    for (const node of await namesIn(join(directory, project))) {
      const manifest = await manifestOf(join(directory, project, node));
      for (const { size } of manifest?.files ?? []) bytes += size;
    }
  }
  return bytes;
}
