// What this server may have left on computes when it was killed, or when they vanished: nodes that were being made, moved or removed, NIOs
// of removed links, projects that were open or are deleted. It is noted on the disk before the compute is asked, struck out once it is known how it
// ended, and otherwise put in order when the compute is there again and the project is open, or closed for good. Of the compute of this
// process, which ends with it, only the folders of nodes can be left.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { RemoteObject, RemoteObjects } from '../../store/remote-objects.ts';
import { ComputeRefusal } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { ProjectState } from './state.ts';

/** What of a project decides over what its computes have. */
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

/** One thing on a compute, from before it is asked for until it is known what became of it. */
export interface Trace extends Disposable {
  /** It is known what became of it: the compute has it and so has the lab, or neither. Never rejects. */
  settle(): Promise<void>;
  /** A call of it failed: after a refusal it is known that nothing has happened. Never rejects. */
  failed(error: unknown): Promise<void>;
}

export class Traces {
  readonly #objects: RemoteObjects;
  /** Changes under way know better than anybody else what becomes of theirs. */
  readonly #busy = new Map<string, RemoteObject>();

  constructor(objects: RemoteObjects) {
    this.#objects = objects;
  }

  /** Before a compute is asked to make or remove a node, which makes room; nobody else looks after that before it is disposed of. */
  async begin(
    { id: compute }: Compute,
    projectId: string,
    path: string,
    { makesRoom = false }: { makesRoom?: boolean } = {},
  ): Promise<Trace> {
    const object: RemoteObject = { compute_id: compute, project_id: projectId, path };
    const key = keyOf(object);
    this.#busy.set(key, object);
    try {
      await this.#objects.note(object, { makesRoom });
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
      [Symbol.dispose]: () => void this.#busy.delete(key),
    };
  }

  /** Before a compute is told of a project. */
  async hosting({ id: compute }: Compute, projectId: string): Promise<void> {
    if (compute !== 'local') await this.#objects.note(hosted(compute, projectId));
  }

  /** The project is deleted, and the compute cannot be told as yet. */
  async deleted({ id: compute }: Compute, projectId: string): Promise<void> {
    await this.#objects.note({ ...hosted(compute, projectId), deleted: true });
  }

  /** The compute has been told that the project is over there, whatever it made of that. Never rejects. */
  async left({ id: compute }: Compute, projectId: string): Promise<void> {
    if (compute !== 'local') await this.#settle(hosted(compute, projectId));
  }

  async #settle(object: RemoteObject): Promise<void> {
    await this.#objects.settle(object).catch((error: unknown) => {
      log.debug('a note of a compute stays, and is judged anew later', { ...object, error: messageOf(error) });
    });
  }

  /** What is to be looked after. */
  async #left(isMeant: (object: RemoteObject) => boolean): Promise<RemoteObject[]> {
    return (await this.#objects.list()).filter((object) => isMeant(object) && !this.#busy.has(keyOf(object)));
  }

  /** Whether a compute may have something that nobody wants. */
  async concern(compute: Compute): Promise<boolean> {
    return (await this.#left((object) => object.compute_id === compute.id)).length > 0;
  }

  /** A project is open: what its computes have of nodes that it does not have goes. Never rejects. */
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

  /** A compute is there again, which knows these projects. Never rejects. */
  async joined(compute: Compute, known: ReadonlySet<unknown>, projects: readonly Project[]): Promise<void> {
    await this.#each(
      (object) => object.compute_id === compute.id,
      async (object) => {
        const project = projects.find(({ id }) => id === object.project_id);
        // One that is being opened, or is to be opened again, looks after it itself.
        if (project && (project.leftOpen || (project.isOpen && project.state !== 'opened'))) return;
        if (project?.state === 'opened') await this.#lookAfter(project, compute, object);
        else if (isProject(object) && object.deleted && !project) await this.#delete(compute, object);
        else if (isProject(object) && known.has(object.project_id)) await this.#leave(compute, object);
        // Of a closed project the lab decides, when it is opened.
        else if (isProject(object) || !project) await this.#settle(object);
      },
    );
  }

  async #each(
    isMeant: (object: RemoteObject) => boolean,
    work: (object: RemoteObject) => Promise<void>,
  ): Promise<void> {
    try {
      for (const object of await this.#left(isMeant)) await work(object);
    } catch (error) {
      log.warn('what may be left on a compute cannot be looked after for now', { reason: messageOf(error) });
    }
  }

  /** Of an open project. */
  async #lookAfter(project: Project, compute: Compute, object: RemoteObject): Promise<void> {
    if (isProject(object)) return;
    if (!isWanted(project, object)) {
      log.info('traces: removing what the lab no longer has', { ...object });
      if (compute.id === 'local' && !isNio(object)) await removeFolders(project.record.path, nodeOf(object));
      // A compute that does not know the project removes nothing of it.
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

  /** Deletes a project that is deleted here. */
  async #delete(compute: Compute, object: RemoteObject): Promise<void> {
    const { project_id: id } = object;
    log.info('traces: deleting a deleted project', { ...object });
    await compute.post('/projects', { body: { name: id, project_id: id } });
    await compute.remove(object.path);
    await this.#settle(object);
  }

  /** Closes a project that is not open here. */
  async #leave(compute: Compute, object: RemoteObject): Promise<void> {
    await compute.post(`${object.path}/close`).catch((error: unknown) => {
      if (!(error instanceof ComputeRefusal)) throw error;
    });
    await this.#settle(object);
  }
}

/** Of a node, in a project's directory. */
async function removeFolders(path: string, nodeId: string): Promise<void> {
  const files = join(path, 'project-files');
  for (const folder of await readdir(files, { withFileTypes: true }).catch(() => [])) {
    if (folder.isDirectory()) await rm(join(files, folder.name, nodeId), { recursive: true, force: true });
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

/** Of `/projects/P/TYPE/nodes/NODE`, also as the beginning of a NIO's path. */
function nodeOf({ path }: RemoteObject): string {
  return path.split('/')[5] ?? '';
}

/** Whether the open lab has what a compute may have. */
function isWanted(project: Project, object: RemoteObject): boolean {
  const isThere = project.nodes.get(nodeOf(object))?.compute.id === object.compute_id;
  return isThere && (!isNio(object) || project.hasLinkAt(object.path));
}

function keyOf({ compute_id: compute, path }: RemoteObject): string {
  return `${compute} ${path}`;
}
