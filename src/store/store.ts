// The state directory: its lock and all durable state of the daemon.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, messageOf } from '../failures.ts';
import { removeLeftovers } from '../host/files/leftovers.ts';
import { Database } from './database.ts';
import { Documents } from './documents.ts';
import { StoredEvents } from './events.ts';
import { adoptLeftLabs } from './host-change.ts';
import { identityOf } from './identity.ts';
import { Labs } from './labs.ts';
import { lockStateDirectory } from './lock.ts';
import { MIGRATIONS } from './migrations.ts';
import { DATABASE } from './other-states.ts';
import { ProjectLocks } from './project-locks.ts';
import { Projects } from './projects.ts';
import { relocateProjects } from './relocation.ts';
import { RemoteObjects } from './remote-objects.ts';
import { Reserve } from './reserve.ts';
import { StatePaths } from './state-paths.ts';

/**
 * The durable state of one daemon. Once a promise of any of its parts has resolved, its change survives kill -9 of the
 * process.
 */
export class Store implements AsyncDisposable {
  /**
   * Identifies this installation on the host: a UUID that is kept over restarts. Child processes carry it in their
   * environment.
   */
  readonly instance: string;
  /** Decides which servers may write to projects' directories. */
  readonly locks: ProjectLocks;
  readonly projects: Projects;
  readonly labs: Labs;
  readonly documents: Documents;
  readonly remoteObjects: RemoteObjects;
  readonly events: StoredEvents;
  readonly #database: Database;
  readonly #paths: StatePaths;
  readonly #reserve: Reserve;
  /** Opened resources, to be closed in reverse order. */
  readonly #opened: AsyncDisposable;
  #closing: PromiseLike<void> | undefined;

  private constructor(
    database: Database,
    opened: AsyncDisposable,
    { instance, locks, paths, reserve }: { instance: string; locks: ProjectLocks; paths: StatePaths; reserve: Reserve },
  ) {
    this.#database = database;
    this.#opened = opened;
    this.instance = instance;
    this.locks = locks;
    this.#paths = paths;
    this.#reserve = reserve;
    this.projects = new Projects(database, paths);
    this.labs = new Labs(database, paths);
    this.documents = new Documents(database);
    this.remoteObjects = new RemoteObjects(database);
    this.events = new StoredEvents(database);
  }

  /**
   * Opens the state directory, creating it (0700) if missing. `Failure('conflict')` if another daemon has it (with its
   * pid, within a second), if it is not writable, or if its database is damaged or of a later release; nothing is
   * changed then. `projects` is the projects directory if it is not the one in the state directory.
   */
  static async open(options: { stateDirectory: string; projects?: string }): Promise<Store> {
    const { stateDirectory: directory, projects = join(directory, 'projects') } = options;
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
    } catch (thrown) {
      throw conflict(
        `the state directory ${directory} cannot be made (${messageOf(thrown)}): create it for the user that runs labwired, or choose another with --state`,
        { cause: thrown },
      );
    }
    await using opened = new AsyncDisposableStack();
    const reserve = new Reserve(directory);
    opened.use(await reserve.use(() => lockStateDirectory(directory)));
    opened.defer(() => reserve.stop());
    await removeLeftovers(directory);
    const path = join(directory, DATABASE);
    const paths = await StatePaths.of(directory);
    await adoptLeftLabs(directory, path);
    const database = opened.use(await reserve.use(() => Database.open(path, MIGRATIONS, reserve)));
    const { instance, claim } = await reserve.use(async () => {
      const others = await relocateProjects(database, paths, projects);
      return identityOf(database, paths, others);
    });
    opened.use(claim);
    const locks = opened.use(new ProjectLocks(paths));
    return new Store(database, opened.move(), { instance, locks, paths, reserve });
  }

  /** The labs of the cluster, in this directory as those of the host, but in a database of their own, which the caller closes. */
  withDatabase(database: Database): Store {
    const { instance, locks } = this;
    const [paths, reserve] = [this.#paths, this.#reserve];
    return new Store(database, new AsyncDisposableStack(), { instance, locks, paths, reserve });
  }

  /** Reserves space for work that frees space. Not while the server starts: each `fsync` would wait for what this writes. */
  reserveSpace(): void {
    this.#reserve.start();
  }

  /** Copies the database as it is now into a new file. */
  copyTo(path: string): Promise<number> {
    return this.#database.copyTo(path);
  }

  /** Runs work that frees space, if necessary with the reserved space. It may run more than once. */
  makingRoom<T>(work: () => Promise<T>): Promise<T> {
    return this.#database.makingRoom(work);
  }

  /** Finishes pending calls and releases the directory. */
  async close(): Promise<void> {
    this.#closing ??= this.#opened[Symbol.asyncDispose]();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
