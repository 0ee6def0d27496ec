// Decides which server may write to a project's directory: the one that has the project open or changes it.
import { conflict, Failure } from '../failures.ts';
import { type DirectoryLock, directoryHolder, holdDirectory } from '../host/files/directory-lock.ts';
import { KeyedLock } from '../host/values/keyed-lock.ts';
import { otherStateAround, userOf } from './other-states.ts';
import type { ProjectRecord } from './projects.ts';
import type { StatePaths } from './state-paths.ts';

type Locked = Pick<ProjectRecord, 'project_id' | 'name' | 'path'>;

interface Held {
  path: string;
  lock: DirectoryLock;
  /** Whether it is held until its release; otherwise only while there are users. */
  kept: boolean;
  users: number;
}

export class ProjectLocks implements AsyncDisposable {
  readonly #paths: StatePaths;
  readonly #held = new Map<string, Held>();
  readonly #taking = new KeyedLock();

  constructor(paths: StatePaths) {
    this.#paths = paths;
  }

  /**
   * Locks the directory against other servers until `release`; does nothing if it is locked already.
   * @throws Failure `conflict` when another server has it
   */
  async hold(project: Locked): Promise<void> {
    await this.#taking.run(project.project_id, async () => {
      (await this.#take(project)).kept = true;
    });
  }

  /** Releases the directory once no change needs it any more. */
  async release(id: string): Promise<void> {
    await this.#taking.run(id, async () => {
      const held = this.#held.get(id);
      if (held === undefined) return;
      held.kept = false;
      await this.#end(id, held);
    });
  }

  /**
   * Works in the directory while it is locked against other servers.
   * @throws Failure `conflict` when another server has it
   */
  async during<T>(project: Locked, work: () => Promise<T>): Promise<T> {
    const { project_id: id } = project;
    const held = await this.#taking.run(id, async () => {
      const taken = await this.#take(project);
      taken.users += 1;
      return taken;
    });
    try {
      return await work();
    } finally {
      await this.#taking.run(id, async () => {
        held.users -= 1;
        await this.#end(id, held);
      });
    }
  }

  /** Whether another server has the directory. */
  async isOthers(project: Locked): Promise<boolean> {
    return this.during(project, async () => {}).then(
      () => false,
      (error: unknown) => {
        if (error instanceof Failure && error.code === 'conflict') return true;
        throw error;
      },
    );
  }

  /** Releases all directories. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#held.values()];
    this.#held.clear();
    for (const { lock } of all) await lock[Symbol.asyncDispose]();
  }

  async #take({ project_id: id, name, path }: Locked): Promise<Held> {
    const held = this.#held.get(id);
    if (held?.path === path && held.lock.isHeld) return held;
    const lock = await this.#lock(name, path);
    await held?.lock[Symbol.asyncDispose]();
    const taken: Held = held ?? { path, lock, kept: false, users: 0 };
    Object.assign(taken, { path, lock });
    this.#held.set(id, taken);
    return taken;
  }

  async #end(id: string, held: Held): Promise<void> {
    if (held.kept || held.users > 0 || this.#held.get(id) !== held) return;
    this.#held.delete(id);
    await held.lock[Symbol.asyncDispose]();
  }

  async #lock(name: string, path: string): Promise<DirectoryLock> {
    const state = await otherStateAround(path, this.#paths.real);
    if (state !== undefined && (await userOf(state)) !== undefined) {
      throw conflict(
        `The project "${name}" in ${path} belongs to the server with the state directory ${state}: use that server, or copy the project.`,
      );
    }
    const lock = await holdDirectory(path);
    if (lock !== undefined) return lock;
    const holder = await directoryHolder(path);
    throw conflict(`The project "${name}" in ${path} is open on ${holder}: close it there first.`);
  }
}
