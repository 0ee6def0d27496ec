// Exports a project as an archive: the topology, its files from this host and other computes, and images if requested (as in release 2.2.57).
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { Topology, TopologyNode } from '../../api/topology.ts';
import { conflict, Failure, ignore, ignoreMissing } from '../../failures.ts';
import { walkContained } from '../../host/files/contained-tree.ts';
import { log } from '../../host/log.ts';
import { ongoing } from '../../host/values/progress.ts';
import { sorted } from '../../host/values/sorted.ts';
import { type Compression, compressorFor } from '../../store/archive/compressors.ts';
import { leadsInside, nameProblem } from '../../store/archive/names.ts';
import { type ArchiveSink, packArchive } from '../../store/archive/writer.ts';
import { readTopologyFile } from '../../store/topology/file.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { fetchFile, filePath, remoteFiles } from '../computes/project-files.ts';
import { bytesBelow } from '../copying.ts';
import type { Announcer } from '../events.ts';
import { PRESENCE } from '../lab/claims.ts';
import { hostMeanwhile } from '../lab/hosting.ts';
import type { LabWriter } from '../lab/lab-writer.ts';
import type { Project } from '../lab/project.ts';
import type { NodeStatus } from '../nodes/node.ts';
import { isStaging } from '../staging.ts';
import { isExcluded, isExcludedFolder, isTopologyFile } from './exclusions.ts';
import { isImageLink, LINK_RULES } from './links.ts';
import { baseName, imageReferences, portableTopology, withoutMacAddresses, withStatuses } from './topology.ts';
import { watchedSink } from './watched-sink.ts';

export interface ExportOptions {
  snapshots: boolean;
  images: boolean;
  resetMacAddresses: boolean;
  keepComputeIds: boolean;
  /** Includes virtual machines kept by other programs; for archives that stay on this host. */
  anyType: boolean;
  /** The status of nodes that may run during the export; it is stored in the archive. */
  running?: ReadonlyMap<string, NodeStatus>;
}

interface RemoteImage {
  compute: Compute;
  /** Name in the archive. */
  name: string;
  /** Below /v2/compute. */
  path: string;
}

interface RemoteFolder {
  compute: Compute;
  files: string[];
}

interface Examination {
  /** Projects that are open on computes meanwhile. */
  held: AsyncDisposableStack;
  /** Something will be missing in the archive. */
  warn: (message: string) => void;
}

export class Exports {
  readonly #computes: Computes;
  readonly #writer: LabWriter;
  readonly #announcer: Announcer;
  readonly #version: string;

  constructor(options: { computes: Computes; writer: LabWriter; announcer: Announcer; version: string }) {
    this.#computes = options.computes;
    this.#writer = options.writer;
    this.#announcer = options.announcer;
    this.#version = options.version;
  }

  /** The archive as a stream. Foreseeable errors are thrown; later ones break it off. */
  async export(project: Project, compression: Compression, options: ExportOptions): Promise<Readable> {
    const compressor = await compressorFor(compression);
    // The lab may be opened during the download.
    const release = (end: () => Promise<void>): Promise<void> => project.changes.run(PRESENCE, end);
    const fill = await project.changes.run(PRESENCE, () => this.prepare(project, options, release));
    return packArchive(compressor, fill);
  }

  /** Only the checks of an export, without its warnings. @throws Failure as `prepare` does */
  async check(project: Project, options: ExportOptions): Promise<void> {
    await project.changes.run(PRESENCE, async () => {
      await using held = new AsyncDisposableStack();
      await this.#examined(project, options, { held, warn: ignore });
    });
  }

  /**
   * Runs all checks and returns a function that fills an archive. It fails if the project was replaced meanwhile, or closed while it has
   * files on other hosts.
   * @param release runs the end of the archive in a change of the project; callers that fill the archive in one need none
   * @throws Failure `conflict` for running nodes, types that cannot be exported, missing images, unreachable computes
   */
  async prepare(
    project: Project,
    options: ExportOptions,
    release = (end: () => Promise<void>): Promise<void> => end(),
  ): Promise<(archive: ArchiveSink) => Promise<void>> {
    await using held = new AsyncDisposableStack();
    const warn = (message: string): void => this.#warn(project, message);
    const { topology, remote, images } = await this.#examined(project, options, { held, warn });
    const { state, record } = project;
    const times = { ...project.times };
    const { ino } = await stat(record.path);
    const progress = ongoing();
    progress.expect(await bytesBelow(record.path, ...this.#wanted(options, foldersElsewhere(topology))), 'bytes');
    const open = held.move();
    return async (target) => {
      await using released = new AsyncDisposableStack();
      released.defer(() => release(() => open.disposeAsync()));
      const archive = watchedSink(target, progress);
      for (const image of images) await this.#addImage(archive, image);
      await archive.addText('project.gns3', JSON.stringify(sorted(exported(topology, options))));
      const names = new Set(['project.gns3']);
      await this.#addLocal(project, archive, { options, names, elsewhere: foldersElsewhere(topology) });
      for (const folder of remote) await this.#addRemote(project, archive, { options, names, ...folder });
      // Clients may change the lab during a download: an archive without their files breaks off.
      const isExchanged = project.times.exchanging !== times.exchanging;
      const isOther = isExchanged || (await stat(record.path).catch(ignoreMissing))?.ino !== ino;
      const wasClosed = project.state !== state || project.times.closing !== times.closing;
      if (isOther || (remote.length > 0 && wasClosed))
        throw conflict('The lab was closed, restored or deleted during its export.');
    };
  }

  /** What the archive will have. @throws Failure as `prepare` does */
  async #examined(project: Project, options: ExportOptions, { held, warn }: Examination) {
    project.requirePresent();
    if (options.running === undefined) refuseRunning(project);
    const topology = await this.#topologyOf(project);
    refuseTypes(topology, options.anyType);
    const remote = await this.#remoteFolders(project, topology, { held, warn });
    const images = options.images ? await this.#images(topology, warn) : [];
    return { topology, remote, images };
  }

  async #topologyOf({ id, record }: Project): Promise<Topology> {
    await this.#writer.flush(id);
    return (await readTopologyFile(join(record.path, record.filename), { version: this.#version })).topology;
  }

  #compute(id: string): Compute {
    const compute = this.#computes.list().find((candidate) => candidate.id === id);
    if (compute) return compute;
    throw conflict(`compute_id: nodes are on the compute ${id}, which is not registered here.`);
  }

  async #remoteFolders(project: Project, topology: Topology, { held, warn }: Examination): Promise<RemoteFolder[]> {
    const ids = new Set(topology.topology.nodes.map((node) => node.compute_id));
    const folders: RemoteFolder[] = [];
    for (const id of ids) {
      if (id === 'local') continue;
      const compute = this.#compute(id);
      try {
        await hostMeanwhile(project, compute, held);
        folders.push({ compute, files: await remoteFiles(compute, project.id) });
      } catch (error) {
        if (compute.connected) throw error;
        const names = topology.topology.nodes.filter((node) => node.compute_id === id).map(({ name }) => name);
        warn(`The files of ${names.join(', ')} are not in the archive. ${compute.absence}`);
      }
    }
    return folders;
  }

  /**
   * The images that nodes use, each once. One that is missing on its compute fails now, not in the middle of the
   * stream.
   */
  async #images(topology: Topology, warn: Examination['warn']): Promise<RemoteImage[]> {
    const images = new Map<string, RemoteImage>();
    for (const node of topology.topology.nodes) {
      for (const { image } of imageReferences(node)) {
        const file = baseName(image);
        const name = `images/${nodeKind(node.node_type).images?.folder}/${file}`;
        const path = `/${node.node_type}/images/${encodeURIComponent(file)}`;
        if (!images.has(name)) images.set(name, { compute: this.#compute(node.compute_id), name, path });
      }
    }
    for (const { compute, name, path } of images.values()) {
      const answer = await compute.pass('GET', path).catch((error: unknown) => {
        if (compute.connected) throw error;
      });
      if (answer === undefined) {
        images.delete(name);
        warn(`The image ${baseName(name)} is not in the archive. ${compute.absence}`);
        continue;
      }
      await answer.body?.cancel();
      if (answer.status >= 300 || nameProblem(name) !== undefined) {
        throw conflict(
          `include_images: the compute ${compute.description.name} does not have the image ${baseName(name)}; upload it, or export without images.`,
        );
      }
    }
    return [...images.values()];
  }

  async #addImage(archive: ArchiveSink, { compute, name, path }: RemoteImage): Promise<void> {
    const content = await fetchFile(compute, path);
    if (!content) throw conflict(`The image ${baseName(name)} vanished during the export.`);
    await archive.addFile(name, content);
  }

  /** Selects the exported files of the project's directory and the folders to enter. */
  #wanted(
    options: ExportOptions,
    elsewhere: ReadonlySet<string>,
  ): [wanted: (path: string) => boolean, enter: (folder: string) => boolean] {
    return [
      (path) => !isExcluded(path, options) && !isTopologyFile(path),
      // Files here of a node on another host were left behind when it moved.
      (folder) => !isExcludedFolder(folder, options) && !elsewhere.has(folder) && !isStaging(folder),
    ];
  }

  async #addLocal(
    project: Project,
    archive: ArchiveSink,
    { options, names, elsewhere }: { options: ExportOptions; names: Set<string>; elsewhere: ReadonlySet<string> },
  ): Promise<void> {
    const [wanted, enter] = this.#wanted(options, elsewhere);
    const links = new Map<string, string>();
    for await (const entry of walkContained(project.record.path, enter)) {
      const { path } = entry;
      if (!wanted(path) || isImageLink(entry)) continue;
      const problem = entry.kind === 'unreadable folder' ? 'permission denied' : nameProblem(path);
      if (problem !== undefined) {
        this.#skipped(project, path, problem);
        continue;
      }
      names.add(path);
      if (entry.kind === 'empty folder') await archive.addFolder(path);
      else if (entry.kind === 'link') links.set(path, entry.target);
      else if (entry.kind === 'file') {
        const file = await entry.open().catch((error: unknown) => {
          if (error instanceof Failure) return error;
          throw error;
        });
        if (file instanceof Failure) this.#skipped(project, path, file.message);
        else await archive.addOpenFile(path, file);
      }
    }
    // Last, as one may lead through others. No archive with one that leads out could be read again.
    for (const [path, target] of links) {
      if (leadsInside(path, links, LINK_RULES)) await archive.addLink(path, target);
      else this.#skipped(project, path, 'it is a link that leads out of the project');
    }
  }

  async #addRemote(
    project: Project,
    archive: ArchiveSink,
    { options, names, compute, files }: { options: ExportOptions; names: Set<string> } & RemoteFolder,
  ): Promise<void> {
    for (const path of files) {
      if (isExcluded(path, options) || isTopologyFile(path) || names.has(path)) continue;
      const problem = nameProblem(path);
      const content = problem === undefined ? await fetchFile(compute, filePath(project.id, path)) : undefined;
      names.add(path);
      if (content) await archive.addFile(path, content);
      else this.#skipped(project, path, problem ?? `the compute ${compute.description.name} no longer has it`);
    }
  }

  #skipped(project: Project, path: string, reason: string): void {
    this.#warn(project, `The file ${path} is not in the archive: ${reason}.`);
  }

  #warn(project: Project, message: string): void {
    log.warn(message, { project: project.id });
    this.#announcer.project.emit('log.warning', { message }, project.id);
  }
}

function exported(topology: Topology, { keepComputeIds, resetMacAddresses, running }: ExportOptions): Topology {
  const portable = keepComputeIds ? topology : portableTopology(topology);
  const told = running === undefined ? portable : withStatuses(portable, running);
  return resetMacAddresses ? withoutMacAddresses(told) : told;
}

/** @throws Failure `conflict` while an emulator's node runs: its files would be inconsistent */
export function refuseRunning(project: Project): void {
  const running = [...project.nodes.values()].find(
    ({ status, alwaysRunning }) => status !== 'stopped' && !alwaysRunning,
  );
  if (!running) return;
  throw conflict(`The node "${running.name}" is running: stop all nodes of the lab first.`);
}

function refuseTypes({ topology }: Topology, anyType: boolean): void {
  for (const { name, node_type: type, properties } of topology.nodes) {
    const { staysOnHost } = nodeKind(type);
    if (staysOnHost?.linkedClones && properties?.['linked_clone'] === true) {
      throw conflict(`The node "${name}" is a linked clone of ${type}, which no archive can hold.`);
    }
    if (!anyType && staysOnHost) {
      throw conflict(`The node "${name}" is a virtual machine of ${type}, which stays where it is.`);
    }
  }
}

/** Folders of nodes on other computes. */
function foldersElsewhere({ topology }: Topology): Set<string> {
  const remote = topology.nodes.filter((node: TopologyNode) => node.compute_id !== 'local');
  return new Set(remote.map(({ node_type: type, node_id: id }) => `project-files/${type}/${id}`));
}
