// What this server may have left on computes when it was killed, or when they vanished, in the middle of a change: nodes that were being
// made or removed, projects that were open. It is noted on the disk before the compute is asked, struck out once it is known how it
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
  record: { path: string };
  state: ProjectState;
  isOpen: boolean;
  leftOpen: boolean;
  nodes: ReadonlyMap<string, unknown>;
  hosts: ReadonlySet<Compute>;
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
  readonly #busy = new Set<string>();

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
    this.#busy.add(key);
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
        if (!known.has(object.project_id)) await this.#settle(object);
        else if (project?.state === 'opened') await this.#lookAfter(project, compute, object);
        else if (isProject(object)) await this.#leave(compute, object);
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
    if (!project.nodes.has(nodeOf(object))) {
      log.info('what a compute has of a node that the lab does not have is removed', { ...object });
      if (compute.id === 'local') await removeFolders(project.record.path, nodeOf(object));
      else await compute.remove(object.path);
    }
    await this.#settle(object);
    if (compute.id !== 'local' && !project.hosts.has(compute))
      await this.#leave(compute, hosted(compute.id, project.id));
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

function nodeOf({ path }: RemoteObject): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function keyOf({ compute_id: compute, path }: RemoteObject): string {
  return `${compute} ${path}`;
}
