// Imports an archive as a project (as in release 2.2.57). It is assembled in a folder of its own and moved into place
// as a whole: a failure at any step leaves nothing behind.
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { Topology } from '../../api/topology.ts';
import { conflict, timedOut } from '../../failures.ts';
import { fileFailure, throwFileFailure } from '../../host/files/atomic-file.ts';
import { removeEmptyDirectories } from '../../host/files/directories.ts';
import { log } from '../../host/log.ts';
import { counted, ongoing } from '../../host/values/progress.ts';
import { type ArchiveEntry, ArchiveReader } from '../../store/archive/reader.ts';
import { writeTopologyFile } from '../../store/topology/file.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { computesOf, describeCompute } from '../computes/of-topology.ts';
import type { Announcer } from '../events.ts';
import { hostNew } from '../lab/hosting.ts';
import type { PendingRemoteChanges, Trace } from '../lab/pending-remote-changes.ts';
import type { Project } from '../lab/project.ts';
import { type GivenSettings, newSettings } from '../lab/settings.ts';
import type { Placement } from '../placement/placement.ts';
import { fileNameOf } from '../projects/project-paths.ts';
import type { Projects } from '../projects/projects.ts';
import { makeStaging, moveFolder } from '../staging.ts';
import { isLegacySnapshot, isTopologyFile } from './exclusions.ts';
import { extract, requireSpace } from './extraction.ts';
import { archivedImage, placeImages, unknownImages } from './images.ts';
import { LINK_RULES } from './links.ts';
import { moveNodeFolders, nodeFolders, renameNodeFolders } from './node-files.ts';
import { PROJECT_FILE, readProject, takeTopology } from './project-file.ts';
import { isSnapshot, repackSnapshots, sizeOfSnapshots } from './repacking.ts';
import { baseName, type NewIdentity, renewed, withImages, withoutMacAddresses } from './topology.ts';

export interface ImportsOptions {
  projects: Projects;
  computes: Computes;
  placement: Placement;
  announcer: Announcer;
  remoteChanges: PendingRemoteChanges;
  /** Directories of projects and images. */
  projectsPath: string;
  imagesPath: string;
  version: string;
  /** See `ControllerOptions`. */
  keepFiles: (projectId: string) => Promise<void>;
}

/** The content of an archive while it arrives. */
type Content = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null;

/** The place, name and options of an imported project. */
export interface ImportPlan extends Pick<NewIdentity, 'auto_start' | 'auto_open' | 'auto_close'> {
  /** Id of the new project. */
  id: string;
  /** Requested name; otherwise the archive's own. */
  name: string | undefined;
  /** Its directory, missing or empty. */
  place: string;
  /** Nodes get new MAC addresses instead of the archive's. */
  resetMacAddresses: boolean;
  /** Whether images that are missing on this host are added to the shared images. */
  addsImages: boolean;
}

/** An archive sent by a client. */
interface Arrival extends Pick<ImportPlan, 'resetMacAddresses' | 'addsImages'> {
  name: string | undefined;
  path: string | undefined;
  /** Declared length in bytes; 0 if unknown. */
  length: number;
  signal: AbortSignal;
}

export class Imports {
  readonly #options: ImportsOptions;

  constructor(options: ImportsOptions) {
    this.#options = options;
  }

  /**
   * Imports an archive from a stream as a closed project, or returns the existing project with this id.
   * @throws Failure `conflict` for a faulty archive, `time-out` when the client leaves too early
   */
  async receive(id: string, content: Content, { name, path, length, signal, ...chosen }: Arrival): Promise<Project> {
    if (path?.includes('.gns3')) throw conflict('path: is the folder of the project; it must not contain ".gns3".');
    return this.#options.projects.arriving(id, async () => {
      const known = this.#options.projects.find(id);
      if (known) {
        if (content instanceof ReadableStream) await content.cancel();
        return known;
      }
      await using held = new AsyncDisposableStack();
      const place = await this.#options.projects.takeVacantPlace({ id, name: name ?? id, path }, held);
      const staging = await makeStaging(this.#options.projectsPath, held);
      const archive = join(staging, 'archive');
      const progress = ongoing();
      progress.say('receiving');
      // Until the size is known, unpacking counts as much as receiving.
      progress.expect(2 * length, 'bytes');
      await spool(content, archive, signal);
      progress.expect(-length, 'bytes');
      const wanted = { id, name, place, ...chosen };
      return await this.unpack(archive, { ...wanted, auto_start: false, auto_open: false, auto_close: true });
    });
  }

  /** As `receive`, for an archive on this disk. */
  async unpack(archive: string, plan: ImportPlan): Promise<Project> {
    const { projects, projectsPath } = this.#options;
    await using held = new AsyncDisposableStack();
    await using hosts = new AsyncDisposableStack();
    await using undo = new AsyncDisposableStack();
    await using handle = await open(archive);
    const reader = await ArchiveReader.open(handle, LINK_RULES);
    const wanted = await wantedName(reader, plan);
    const staging = await makeStaging(projectsPath, held);
    const directory = join(staging, 'project');
    const progress = ongoing();
    progress.say('unpacking');
    await extract(reader, staging, (entry) => (isSnapshot(entry) ? placeOf(entry) : undefined));
    const inner = await sizeOfSnapshots(directory);
    reader.checkLevels(inner);
    await requireSpace(staging, reader.size + inner);
    progress.expect(reader.size, 'bytes');
    await extract(reader, staging, (entry) => (isSnapshot(entry) ? undefined : placeOf(entry)));
    const read = await takeTopology(directory, this.#options.version);
    const { topology: stored, choices } = await placed(read, this.#options.placement);
    const name = await projects.reserveName(wanted, held);
    const { auto_start, auto_open, auto_close } = plan;
    const identity = { project_id: plan.id, name, auto_start, auto_open, auto_close };
    const addressed = plan.resetMacAddresses ? withoutMacAddresses(stored) : stored;
    const { topology, nodeIds } = renewed(addressed, identity, (id) => describeCompute(this.#options.computes, id));
    await renameNodeFolders(directory, nodeIds);
    const brought = join(staging, 'images');
    const { imagesPath } = this.#options;
    if (!plan.addsImages)
      for (const name of await unknownImages(brought, imagesPath))
        this.#warn(plan.id, `The image ${name} of the archive is left out, as only admins add images to this host.`);
    progress.check();
    await repackSnapshots(directory, identity, (message) => this.#warn(plan.id, message));
    const traces = await this.#moveToComputes(directory, topology, { held, hosts, undo });
    // Late, as all see them: an import that fails takes them away again.
    const images = plan.addsImages ? await placeImages(brought, imagesPath, undo) : new Map<string, string>();
    progress.check();
    const filename = fileNameOf(name);
    await writeTopologyFile(join(directory, filename), withPlacedImages(topology, images));
    progress.commit();
    await putInPlace(directory, plan.place, undo);
    const settings = newSettings(name, topology as GivenSettings);
    // From its adoption on the lab may be opened.
    await hosts.disposeAsync();
    const project = await projects.adopt({ ...settings, project_id: plan.id, path: plan.place, filename });
    const reasons = [...choices].map(([old, choice]) => [nodeIds.get(old) ?? old, choice] as const);
    await this.#options.placement.keep(project, new Map(reasons));
    undo.move();
    // A controller that does not have its files does not have the lab, and removes what computes have of it.
    if (traces.length > 0) {
      const isKept = await this.#options.keepFiles(plan.id).then(
        () => true,
        () => false,
      );
      // An open lab needs the same note.
      if (isKept && !project.isOpen) for (const trace of traces) await trace.settle();
    }
    return project;
  }

  async #moveToComputes(
    directory: string,
    topology: Topology,
    { held, hosts, undo }: Record<'held' | 'hosts' | 'undo', AsyncDisposableStack>,
  ): Promise<Trace[]> {
    const { remoteChanges } = this.#options;
    const traces: Trace[] = [];
    const computes = computesOf(this.#options.computes, topology);
    const { project_id: id, name } = topology;
    for (const compute of computes.values()) {
      const trace = held.use(await remoteChanges.importing(compute, id));
      traces.push(trace);
      try {
        await hostNew({ id, name }, compute, hosts);
        undo.defer(() => remoteChanges.delete(compute, id));
      } catch (error) {
        await trace.failed(error);
        // An unreachable host is no obstacle if there are no files for it.
        if (compute.connected || (await hasFilesFor(compute, directory, topology))) throw error;
        computes.delete(compute.id);
      }
    }
    await moveNodeFolders(directory, topology, computes);
    return traces;
  }

  #warn(projectId: string, message: string): void {
    log.warn(message, { project: projectId });
    this.#options.announcer.project.emit('log.warning', { message }, projectId);
  }
}

/** Chooses hosts for the nodes with `auto`. */
async function placed(given: Topology, placement: Placement) {
  const { nodes, links } = given.topology;
  const pairs = links.flatMap(({ nodes: ends = [] }) =>
    ends.length === 2 ? [[ends[0]!.node_id, ends[1]!.node_id] as const] : [],
  );
  const { nodes: hosted, choices } = await placement.resolved(nodes, pairs);
  return { topology: { ...given, topology: { ...given.topology, nodes: hosted } }, choices };
}

async function hasFilesFor(compute: Compute, directory: string, { topology }: Topology): Promise<boolean> {
  for (const { compute_id: computeId, node_id: id } of topology.nodes) {
    if (computeId === compute.id && id !== undefined && (await nodeFolders(directory, id)).length > 0) return true;
  }
  return false;
}

/** Writes the stream to a file without holding it in memory. */
async function spool(content: Content, path: string, signal: AbortSignal): Promise<void> {
  try {
    await using file = await open(path, 'wx', 0o600);
    await file.writeFile(content === null ? '' : counted(content as AsyncIterable<Uint8Array>, ongoing()));
  } catch (error) {
    if (signal.aborted) throw timedOut('The upload broke off; nothing was imported.', { cause: error });
    throw fileFailure(error, 'the archive');
  }
}

/** The project's name, if it is free. Labs of 1.x with nothing but drawings have null as their id. */
async function wantedName(reader: ArchiveReader, plan: ImportPlan): Promise<string> {
  const { name, project_id: id } = await readProject(reader);
  if (typeof name !== 'string' || name === '' || id === undefined) {
    throw conflict(`${PROJECT_FILE} of the archive has no name or no project_id.`);
  }
  return id === plan.id ? name : (plan.name ?? name);
}

/** Where an entry is unpacked: images outside the project, no topology but its own. */
function placeOf({ name, kind }: ArchiveEntry): string | undefined {
  if (name === PROJECT_FILE) return `project/${name}`;
  const image = archivedImage(name);
  if (image) return kind === 'file' ? `images/${image.folder}/${image.file}` : undefined;
  const isOwn = !isTopologyFile(name) || isLegacySnapshot(name);
  return image === false || !isOwn ? undefined : `project/${name}`;
}

function withPlacedImages(topology: Topology, renames: ReadonlyMap<string, string>): Topology {
  return withImages(topology, ({ node_type: type, compute_id: compute }, image) => {
    const renamed = renames.get(`${nodeKind(type).images?.folder}/${baseName(image)}`);
    return compute === 'local' && renamed !== undefined ? renamed : image;
  });
}

/** Moves a complete project to its place. */
export async function putInPlace(directory: string, place: string, undo: AsyncDisposableStack): Promise<void> {
  const made = await mkdir(dirname(place), { recursive: true }).catch(throwFileFailure(place));
  // Other labs may have been put beside it.
  if (made !== undefined) undo.defer(() => removeEmptyDirectories(dirname(place), made));
  await moveFolder(directory, place);
  undo.defer(() => rm(place, { recursive: true, force: true }));
}
