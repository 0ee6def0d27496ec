// Restores a project from a snapshot (as in release 2.2.57). Everything that can fail is done before the running lab is
// touched; if it fails later all the same, the lab is restored as it was. Unlike in the release, nodes stay on their
// computes, and the topology that is written is always the one that is opened, even if the project was renamed.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Topology } from '../../api/topology.ts';
import { messageOf } from '../../failures.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { log } from '../../host/log.ts';
import { ongoing } from '../../host/values/progress.ts';
import { type ArchiveEntry, ArchiveReader } from '../../store/archive/reader.ts';
import { CAPTURES_DIRECTORY } from '../../store/captures.ts';
import { writeTopologyFile } from '../../store/topology/file.ts';
import { isTopologyFile } from '../archives/exclusions.ts';
import { extract } from '../archives/extraction.ts';
import { LINK_RULES } from '../archives/links.ts';
import { moveNodeFolders, renameNodeFolders } from '../archives/node-files.ts';
import { PROJECT_FILE, takeTopology } from '../archives/project-file.ts';
import { SNAPSHOTS } from '../archives/repacking.ts';
import { renewed, takeStatuses } from '../archives/topology.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { computesOf, describeCompute } from '../computes/of-topology.ts';
import type { Announcer } from '../events.ts';
import { hostProject } from '../lab/hosting.ts';
import type { Trace } from '../lab/pending-remote-changes.ts';
import type { Project } from '../lab/project.ts';
import { type Node, nodePath } from '../nodes/node.ts';
import type { Projects } from '../projects/projects.ts';
import { makeStaging } from '../staging.ts';
import { exchangeFiles, NEW, TOPOLOGY } from './exchange.ts';
import { startKept } from './running.ts';

export interface RestoresOptions {
  projects: Projects;
  computes: Computes;
  projectsPath: string;
  announcer: Announcer;
  version: string;
}

export class Restores {
  readonly #options: RestoresOptions;

  constructor(options: RestoresOptions) {
    this.#options = options;
  }

  /** Restores an open project from an archive in its directory. */
  async restore(project: Project, archive: string): Promise<void> {
    await using held = new AsyncDisposableStack();
    const staging = await makeStaging(await this.#stagingPlace(project.record.path), held);
    const { topology, statuses } = takeStatuses(await this.#prepare(project, archive, staging));
    const computes = computesOf(this.#options.computes, topology);
    // Files sent to other computes cannot be rolled back, and the exchange of the files completes as a whole.
    ongoing().commit();
    const noted = new DisposableStack();
    const note = async (compute: Compute, path: string): Promise<Trace> =>
      noted.use(await project.remoteChanges.begin(compute, project.id, path));
    try {
      // Their nodes have new ids, so that nothing there is overwritten.
      for (const compute of computes.values()) await hostProject(project, compute);
      for (const { compute_id: computeId, node_type: type, node_id: id } of topology.topology.nodes) {
        const compute = computes.get(computeId);
        if (compute) await note(compute, nodePath(project.id, type, String(id)));
      }
      await moveNodeFolders(join(staging, NEW), topology, computes);
      await writeTopologyFile(join(staging, TOPOLOGY), topology);
      const gone: { node: Node; trace: Trace }[] = [];
      await this.#options.projects.reopen(project, async (undo, before) => {
        const { path, filename } = project.record;
        for (const node of before.filter(({ compute }) => compute.id !== 'local'))
          gone.push({ node, trace: await note(node.compute, node.path) });
        await exchangeFiles({ staging, path, filename }, undo);
        await renew(path, archive);
      });
      for (const { node, trace } of gone) await removeElsewhere(project, node, trace);
    } finally {
      noted.dispose();
      // Removes what the lab does not have: after a failure the new nodes.
      if (project.state === 'opened') await project.remoteChanges.opened(project, this.#options.computes.list());
    }
    await startKept(project, statuses, this.#options.announcer);
  }

  /** Unpacks the archive to `new` and returns the project's new topology. */
  async #prepare({ record }: Project, archive: string, staging: string): Promise<Topology> {
    const { handle } = await openContainedForRead(record.path, archive);
    await using _closed = handle;
    const reader = await ArchiveReader.open(handle, LINK_RULES);
    ongoing().expect(reader.size, 'bytes');
    await extract(reader, staging, placeOf);
    const directory = join(staging, NEW);
    const stored = await takeTopology(directory, this.#options.version);
    const { project_id, name, auto_start, auto_open, auto_close, variables, supplier } = record;
    const identity = { project_id, name, auto_start, auto_open, auto_close };
    const { topology, nodeIds } = renewed(stored, identity, (id) => describeCompute(this.#options.computes, id));
    await renameNodeFolders(directory, nodeIds);
    // Settings of the project itself stay as they are now, also in the file.
    return { ...topology, variables, supplier };
  }

  /**
   * A directory on the project's file system: the projects directory if possible, as other programs may watch the
   * project's own.
   */
  async #stagingPlace(path: string): Promise<string> {
    const { projectsPath } = this.#options;
    const [common, own] = await Promise.all([stat(projectsPath), stat(path)]);
    return common.dev === own.dev ? projectsPath : path;
  }
}

/** The topology and the lab's own files, without other snapshots, topologies and captures: the lab keeps its own. */
function placeOf({ name }: ArchiveEntry): string | undefined {
  const isOther = isTopologyFile(name) && name !== PROJECT_FILE;
  const isCapture = name.split('/').slice(0, 2).join('/') === CAPTURES_DIRECTORY;
  if (isOther || isCapture || name.split('/')[0] === SNAPSHOTS) return undefined;
  return `${NEW}/${name}`;
}

/**
 * Removes the files of a node that is no longer in the lab: its compute removes them with the node, which must be
 * recreated there first.
 */
async function removeElsewhere(project: Project, node: Node, trace: Trace): Promise<void> {
  const { console: _console, ...body } = await node.computeBody(node.record.properties);
  try {
    await hostProject(project, node.compute);
    await node.compute.post(`/projects/${project.id}/${node.type}/nodes`, { body: { ...body, node_id: node.id } });
    await node.compute.delete(node.path);
    await trace.settle();
  } catch (error) {
    log.warn('files of a node of before the restoration stay on its compute', {
      node: node.id,
      error: messageOf(error),
    });
  }
}

/** Gives a snapshot another id, even if it was created or restored a moment ago. */
async function renew(directory: string, archive: string): Promise<void> {
  const { handle, stat: status } = await openContainedForRead(directory, archive);
  await using opened = handle;
  const modified = Math.max(Date.now(), Math.round(status.mtimeMs) + 1) / 1000;
  // A file of another user keeps its time: the lab is restored all the same.
  await opened.utimes(status.atime, modified).catch((error: unknown) => {
    log.warn('a restored snapshot keeps its id', { archive, error: messageOf(error) });
  });
}
