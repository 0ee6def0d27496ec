// Records what a crash of this server, or the loss of a compute, may leave on computes: nodes being created, moved or
// removed, NIOs of new and of removed links, projects that were open, are deleted, or are being imported. An entry is on disk
// before the compute is called and deleted once the outcome is known. The others are cleaned up when the compute is back
// and the project is open, or closed for good. The compute of this process ends with it, so it can leave only nodes'
// folders.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../failures.ts';
import { removeTree } from '../../host/files/remove-tree.ts';
import { log } from '../../host/log.ts';
import type { RemoteObject, RemoteObjects } from '../../store/remote-objects.ts';
import { ComputeRefusal } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { ProjectState } from './state.ts';

/** The parts of a project that decide what its computes should have. */
interface Project {
  id: string;
  record: { path: string; name: string };
  state: ProjectState;
  isOpen: boolean;
  leftOpen: boolean;
  nodes: ReadonlyMap<string, { compute: Compute }>;
  /** Whether a link is at a port of a node, by the path of its NIO on the compute. */
  hasLinkAt(path: string): boolean;
  hosts: Set<Compute>;
}

/** One object on a compute, from before the request until the outcome is known. */
export interface Trace extends Disposable {
  /** The outcome is known: the compute and the lab both have it, or neither. Never rejects. */
  settle(): Promise<void>;
  /** A request for it failed; after a rejection it is known that nothing changed. Never rejects. */
  failed(error: unknown): Promise<void>;
}

export class PendingRemoteChanges {
  readonly #objects: RemoteObjects;
  /** Objects of pending changes, which clean up after themselves. */
  readonly #busy = new Map<string, RemoteObject>();
  /** What was to be done about such an object meanwhile; done if its change ends without a known outcome. */
  readonly #postponed = new Map<string, () => Promise<void>>();

  constructor(objects: RemoteObjects) {
    this.#objects = objects;
  }

  /**
   * Records that a compute is about to be asked to create or remove a node. Until the result is disposed of, nothing
   * else cleans up the object. Only a removal, which `makesRoom`, may use the reserved disk space.
   */
  begin({ id: compute }: Compute, projectId: string, path: string, options?: { makesRoom?: boolean }): Promise<Trace> {
    return this.#begin({ compute_id: compute, project_id: projectId, path }, options);
  }

  /** Records that a compute is about to get files of a project that is being imported. */
  importing({ id: compute }: Compute, projectId: string): Promise<Trace> {
    // If the import is interrupted, the project is deleted there.
    return this.#begin({ ...hosted(compute, projectId), deleted: true });
  }

  async #begin(object: RemoteObject, options?: { makesRoom?: boolean }): Promise<Trace> {
    const key = keyOf(object);
    this.#busy.set(key, object);
    try {
      await this.#objects.note(object, options);
    } catch (error) {
      this.#busy.delete(key);
      throw error;
    }
    const settle = (): Promise<void> => this.#settle(object);
    return {
      settle,
      failed: async (error) => {
        if (error instanceof ComputeRefusal) await settle();
      },
      [Symbol.dispose]: () => {
        this.#busy.delete(key);
        const postponed = this.#postponed.get(key);
        this.#postponed.delete(key);
        void postponed?.().catch(warnOfRest);
      },
    };
  }

  /** Records that a compute is about to get a project. */
  async hosting({ id: compute }: Compute, projectId: string): Promise<void> {
    if (compute !== 'local') await this.#objects.note(hosted(compute, projectId));
  }

  /** Records that a project is about to be deleted here, and then on a compute. */
  deleting({ id: compute }: Compute, projectId: string): Promise<Trace> {
    return this.#begin({ ...hosted(compute, projectId), deleted: true }, { makesRoom: true });
  }

  /** Deletes on a compute a project that is deleted here; a failed deletion is repeated when it is back. Never rejects. */
  async delete(compute: Compute, projectId: string): Promise<void> {
    await this.#delete(compute, hosted(compute.id, projectId)).catch((error: unknown) => {
      const reason = messageOf(error);
      log.warn('project: deleted on a host when that is back', { project: projectId, compute: compute.id, reason });
    });
  }

  /** The project was closed on the compute, whatever the answer. Never rejects. */
  async left({ id: compute }: Compute, projectId: string): Promise<void> {
    if (compute !== 'local') await this.#settle(hosted(compute, projectId));
  }

  async #settle(object: RemoteObject): Promise<void> {
    this.#postponed.delete(keyOf(object));
    await this.#objects.settle(object).catch((error: unknown) => {
      log.debug('cannot finish a pending change of a compute; it is tried again later', {
        ...object,
        error: messageOf(error),
      });
    });
  }

  /** The entries to clean up. */
  async #left(isMeant: (object: RemoteObject) => boolean): Promise<RemoteObject[]> {
    return (await this.#objects.list()).filter((object) => isMeant(object) && !this.#busy.has(keyOf(object)));
  }

  /** Whether a compute may have leftovers. */
  async concern(compute: Compute): Promise<boolean> {
    return (await this.#left((object) => object.compute_id === compute.id)).length > 0;
  }

  /** Whether a compute may still have nodes of an open lab that the lab does not have there. */
  async hasStray({ id }: Compute, projects: readonly Project[]): Promise<boolean> {
    const parts = await this.#left((object) => object.compute_id === id && !isProject(object));
    return parts.some((object) => {
      const project = projects.find((one) => one.id === object.project_id);
      return project?.isOpen === true && (project.state !== 'opened' || !isWanted(project, object));
    });
  }

  /** A project is open: removes from its computes what its lab does not have. Never rejects. */
  async opened(project: Project, computes: readonly Compute[]): Promise<void> {
    await this.#each(
      (object) => object.project_id === project.id && !isProject(object),
      async (object) => {
        const compute = computes.find(({ id }) => id === object.compute_id);
        if (compute?.id === 'local' || compute?.connected) await this.#lookAfter(project, compute, object);
        else if (!compute) await this.#settle(object);
      },
    );
  }

  /** A compute that has these projects is back. Never rejects. */
  async joined(compute: Compute, known: ReadonlySet<unknown>, projects: readonly Project[]): Promise<void> {
    await this.#each(
      (object) => object.compute_id === compute.id,
      async (object) => {
        const project = projects.find(({ id }) => id === object.project_id);
        // A project that is opening, or is to be reopened, cleans up itself.
        if (project && (project.leftOpen || (project.isOpen && project.state !== 'opened'))) return;
        if (project?.state === 'opened') await this.#lookAfter(project, compute, object);
        else if (isProject(object) && object.deleted && !project) await this.#delete(compute, object);
        else if (isProject(object) && known.has(object.project_id)) await this.#leave(compute, object);
        // The nodes of a closed project are checked when it is opened.
        else if (isProject(object) || !project) await this.#settle(object);
      },
    );
  }

  /** Deletes on this host's compute what was deleted while another host was the controller. Never rejects. */
  async deleteHere(local: Compute, projects: readonly Project[]): Promise<void> {
    await this.#each(
      (object) => object.compute_id === local.id && object.deleted === true,
      (object) =>
        projects.some(({ id }) => id === object.project_id) ? this.#settle(object) : this.#delete(local, object),
    );
  }

  async #each(
    isMeant: (object: RemoteObject) => boolean,
    work: (object: RemoteObject) => Promise<void>,
  ): Promise<void> {
    try {
      for (const object of (await this.#objects.list()).filter(isMeant)) {
        const look = (): Promise<void> =>
          work(object).catch((error: unknown) => {
            // A compute that is gone ends the work; a rejection concerns this entry alone.
            if (!(error instanceof ComputeRefusal)) throw error;
            log.warn('remote changes: the compute rejects a removal', { ...object, reason: error.message });
          });
        if (this.#busy.has(keyOf(object))) this.#postponed.set(keyOf(object), look);
        else await look();
      }
    } catch (error) {
      warnOfRest(error);
    }
  }

  /** Cleans up one entry of an open project. */
  async #lookAfter(project: Project, compute: Compute, object: RemoteObject): Promise<void> {
    if (isProject(object)) return;
    if (!isWanted(project, object)) {
      log.info('remote changes: removing what the lab no longer has', { ...object });
      if (compute.id === 'local' && !isNio(object)) await removeFolders(project.record.path, nodeOf(object));
      // A compute without the project would remove nothing.
      if (compute.id !== 'local')
        await compute.post('/projects', { body: { name: project.record.name, project_id: project.id } });
      await compute.remove(object.path);
    }
    await this.#settle(object);
    if (compute.id === 'local' || this.#isUsed(project, compute)) return;
    project.hosts.delete(compute);
    await this.#leave(compute, hosted(compute.id, project.id));
  }

  /** Whether the lab has nodes on the compute, or is about to. */
  #isUsed(project: Project, compute: Compute): boolean {
    const isComing = [...this.#busy.values()].some(
      (object) => object.compute_id === compute.id && object.project_id === project.id,
    );
    return isComing || [...project.nodes.values()].some((node) => node.compute === compute);
  }

  /** Deletes there a project that is deleted here. */
  async #delete(compute: Compute, object: RemoteObject): Promise<void> {
    const { project_id: id } = object;
    log.info('remote changes: deleting a deleted project', { ...object });
    await compute.post('/projects', { body: { name: id, project_id: id } });
    await compute.remove(object.path);
    await this.#settle(object);
  }

  /** Closes there a project that is not open here. */
  async #leave(compute: Compute, object: RemoteObject): Promise<void> {
    await compute.post(`${object.path}/close`).catch((error: unknown) => {
      if (!(error instanceof ComputeRefusal)) throw error;
    });
    await this.#settle(object);
  }
}

function warnOfRest(error: unknown): void {
  log.warn('what may be left on a compute cannot be looked after for now', { reason: messageOf(error) });
}

/** Removes the folders of a node from a project's directory. */
async function removeFolders(path: string, nodeId: string): Promise<void> {
  const files = join(path, 'project-files');
  for (const folder of await readdir(files, { withFileTypes: true }).catch(() => [])) {
    if (folder.isDirectory()) await removeTree(join(files, folder.name, nodeId));
  }
}

function hosted(compute: string, projectId: string): RemoteObject {
  return { compute_id: compute, project_id: projectId, path: `/projects/${projectId}` };
}

function isProject({ project_id: id, path }: RemoteObject): boolean {
  return path === `/projects/${id}`;
}

function isNio({ path }: RemoteObject): boolean {
  return path.endsWith('/nio');
}

/** The node's id in `/projects/P/TYPE/nodes/NODE`, also if that begins a NIO's path. */
function nodeOf({ path }: RemoteObject): string {
  return path.split('/')[5] ?? '';
}

/** Whether the open lab has the object. */
function isWanted(project: Project, object: RemoteObject): boolean {
  const isThere = project.nodes.get(nodeOf(object))?.compute.id === object.compute_id;
  return isThere && (!isNio(object) || project.hasLinkAt(object.path));
}

function keyOf({ compute_id: compute, path }: RemoteObject): string {
  return `${compute} ${path}`;
}
