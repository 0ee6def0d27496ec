// The state directory: who owns it, and what survives the daemon.
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, messageOf } from '../failures.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { removeLeftovers } from '../host/leftovers.ts';
import { log } from '../host/log.ts';
import { readRegularFile } from '../host/regular-file.ts';
import { Database } from './database.ts';
import { Documents } from './documents.ts';
import { Labs } from './labs.ts';
import { lockStateDirectory } from './lock.ts';
import { MIGRATIONS } from './migrations.ts';
import { Projects } from './projects.ts';
import { RemoteObjects } from './remote-objects.ts';
import { Reserve } from './reserve.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Bytes of the file with the identity, at most. */
const LARGEST_INSTANCE_BYTES = 64;

/** The durable state of one daemon. A promise of any of its parts that has resolved survives kill -9 of the process. */
export class Store implements AsyncDisposable {
  /**
   * Tells this installation from others on the host: a UUID that stays the same over restarts. Child processes carry
   * it in their environment.
   */
  readonly instance: string;
  readonly projects: Projects;
  readonly labs: Labs;
  readonly documents: Documents;
  readonly remoteObjects: RemoteObjects;
  readonly #database: Database;
  /** What is open, to be closed in the other order. */
  readonly #opened: AsyncDisposable;
  #closing: PromiseLike<void> | undefined;

  private constructor(database: Database, opened: AsyncDisposable, instance: string) {
    this.#database = database;
    this.#opened = opened;
    this.instance = instance;
    this.projects = new Projects(database);
    this.labs = new Labs(database);
    this.documents = new Documents(database);
    this.remoteObjects = new RemoteObjects(database);
  }

  /**
   * Opens the state directory, creating it (0700) if it is missing. `Failure('conflict')` if another daemon has it
   * (named with its pid, within a second), if it cannot be written, or if its database is damaged or of a later
   * release; nothing is changed then.
   */
  static async open(options: { stateDirectory: string }): Promise<Store> {
    const directory = options.stateDirectory;
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
    } catch (thrown) {
      throw new Failure(
        'conflict',
        `the state directory ${directory} cannot be made (${messageOf(thrown)}): create it for the user that runs labwired, or choose another with --state`,
        { cause: thrown },
      );
    }
    await using opened = new AsyncDisposableStack();
    const reserve = new Reserve(directory);
    opened.use(await reserve.use(() => lockStateDirectory(directory)));
    opened.defer(() => reserve.stop());
    await removeLeftovers(directory);
    const path = join(directory, 'labwire.db');
    const database = opened.use(await reserve.use(() => Database.open(path, MIGRATIONS, reserve)));
    const instance = await instanceOf(database, directory);
    reserve.start();
    return new Store(database, opened.move(), instance);
  }

  /** Work that makes room, or ends what takes it, with the space that is kept for it. It may be done more than once. */
  makingRoom<T>(work: () => Promise<T>): Promise<T> {
    return this.#database.makingRoom(work);
  }

  /** Finishes what was asked for before and gives the directory free. */
  async close(): Promise<void> {
    this.#closing ??= this.#opened[Symbol.asyncDispose]();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * The identity of the installation, as the database has it. A file beside it has it, too: programs that run carry it, and a database that
 * was lost or made anew must not make strangers of them.
 */
async function instanceOf(database: Database, directory: string): Promise<string> {
  const path = join(directory, 'instance');
  const noted = await readRegularFile(path, LARGEST_INSTANCE_BYTES)
    .then((bytes) => bytes.toString().trim())
    .catch(() => undefined);
  const known = noted !== undefined && UUID.test(noted) ? noted : randomUUID();
  await database.run("INSERT INTO setting VALUES ('instance', ?) ON CONFLICT DO NOTHING", known);
  const [row] = await database.all<{ value: string }>("SELECT value FROM setting WHERE name = 'instance'");
  const instance = row!.value;
  if (instance !== noted) {
    await writeFileAtomically(path, `${instance}\n`, { mode: 0o600 }).catch((error: unknown) =>
      log.debug('the identity of the installation is in its database alone', { path, error: messageOf(error) }),
    );
  }
  return instance;
}
