// A copy of the controller's database on this host, which follows the log: from the last copy in the object store, change by change.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConsumerMessages, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type ObjectStore, Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { Failure, ignore, messageOf } from '../failures.ts';
import type { Database } from '../store/database.ts';
import { ChangeReader } from './log.ts';
import { replicasFor } from './replicas.ts';
import { CHANGES_STREAM, DATABASE_OBJECT, OBJECTS } from './subjects.ts';

/** How long (ms) until the next attempt to follow, after a failed one. */
const AGAIN_MS = 1_000;
/**
 * Length (ms) of a request for changes. NATS says twice in this time that it is there: the consumer, which one server has, is made again
 * that soon when that server dies. Until then this host could not be the controller.
 */
const PULL_MS = 2_000;
/** Time limit (ms) of a question to JetStream: servers that elect their leader drop some, which must be repeated. */
const ANSWER_MS = 2_000;
/** Of files and copies of the database together. The log has the rest of what NATS may store. */
const MOST_OBJECT_BYTES = 640 * 2 ** 20;
/** Time limit (ms) for fetching a copy of the database. */
const FETCHED_MS = 20_000;
const DATABASE = 'labwire.db';

export interface ReplicaParts {
  /** Holds the copy. */
  directory: string;
  nats: NatsConnection;
  /** Opens a database, with all tables. */
  open: (path: string) => Promise<Database>;
  /** The version of the tables that this release has. */
  schema: number;
  /** Called with each new reason why the log cannot be followed. */
  failed: (reason: string) => void;
}

/** The objects of the cluster; the controller creates the bucket. */
export function objectsOf(nats: NatsConnection, create: boolean): Promise<ObjectStore> {
  const manager = new Objm(jetstream(nats));
  return create
    ? manager.create(OBJECTS, { max_bytes: MOST_OBJECT_BYTES, replicas: replicasFor(nats) })
    : manager.open(OBJECTS);
}

/** Undefined if there is no such object. @throws Failure `unavailable` if NATS does not send it in time */
export async function fetchObject(
  objects: ObjectStore,
  name: string,
  limit = FETCHED_MS,
): Promise<Uint8Array | undefined> {
  const fetched = new AbortController();
  // It waits for ever if the server that sends it dies.
  const late = sleep(limit, undefined, { ref: false, signal: fetched.signal }).then(() => {
    throw new Failure('unavailable', `NATS has not sent the object ${name} in time.`);
  });
  late.catch(ignore);
  try {
    return (await Promise.race([objects.getBlob(name), late])) ?? undefined;
  } finally {
    fetched.abort();
  }
}

/** Puts a copy of the database into the object store, and shortens the log by what the copy has. */
export async function storeCopy(nats: NatsConnection, database: Database, directory: string): Promise<void> {
  const path = join(directory, 'copy.unfinished');
  await rm(path, { force: true });
  try {
    const position = await database.copyTo(path);
    const objects = await objectsOf(nats, true);
    await objects.putBlob({ name: DATABASE_OBJECT, metadata: { position: String(position) } }, await readFile(path));
    if (position > 0) await (await jetstreamManager(nats)).streams.purge(CHANGES_STREAM, { seq: position + 1 });
  } finally {
    await rm(path, { force: true });
  }
}

export class Replica {
  readonly #parts: ReplicaParts;
  readonly #ending = new AbortController();
  #messages: ConsumerMessages | undefined;
  #database: Database | undefined;
  #following: Promise<void> | undefined;
  #reason = '';
  /** The number of the last message that was read; it may be of a change that is not whole. */
  #seen = 0;
  #isFollowing = false;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  get path(): string {
    return join(this.#parts.directory, DATABASE);
  }

  /** Undefined until there is a copy. */
  get database(): Database | undefined {
    return this.#database;
  }

  get isStarted(): boolean {
    return this.#following !== undefined;
  }

  /** Whether it reads the log at this time. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** The number of the last message that was read. */
  get seen(): number {
    return this.#seen;
  }

  /** Without a copy, and if the cluster has none either, begins with the one that `begin` writes. */
  async createFrom(begin: ((path: string) => Promise<unknown>) | undefined): Promise<void> {
    const { directory, nats } = this.#parts;
    if (!begin || existsSync(this.path)) return;
    if (await (await objectsOf(nats, true)).info(DATABASE_OBJECT)) return;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const unfinished = join(directory, 'begin.unfinished');
    await rm(unfinished, { force: true });
    await begin(unfinished);
    await chmod(unfinished, 0o600);
    await rename(unfinished, this.path);
  }

  /** Follows the log until `stop`, and again after each failure. */
  start(): void {
    this.#following = this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#follow();
      } catch (error) {
        const reason = messageOf(error);
        if (!signal.aborted && reason !== this.#reason) this.#parts.failed(reason);
        this.#reason = reason;
      }
      this.#isFollowing = false;
      await sleep(AGAIN_MS, undefined, { signal }).catch(ignore);
    }
  }

  async #follow(): Promise<void> {
    const { nats, directory } = this.#parts;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const manager = await jetstreamManager(nats, { timeout: ANSWER_MS });
    const { state } = await manager.streams.info(CHANGES_STREAM);
    let database = await this.#opened();
    if (!database || (await database.position()) < state.first_seq - 1) database = await this.#fetch();
    const position = await database.position();
    if (position > state.last_seq)
      throw new Failure(
        'conflict',
        `The log of the cluster ends at change ${state.last_seq}, this host has ${position}: the storage of NATS was lost. Restore it from a backup.`,
      );
    this.#seen = position;
    const consumer = await jetstream(nats, { timeout: ANSWER_MS }).consumers.get(CHANGES_STREAM, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: position + 1,
    });
    const reader = new ChangeReader();
    const messages = await consumer.consume({ expires: PULL_MS });
    this.#messages = messages;
    if (this.#ending.signal.aborted) messages.stop();
    this.#isFollowing = true;
    for await (const message of messages) {
      const change = reader.receive(message);
      if (change && change.schema > this.#parts.schema)
        throw new Failure(
          'conflict',
          `The controller runs a later release of Labwire (schema ${change.schema}, this one knows ${this.#parts.schema}): install it here, too.`,
        );
      if (change && change.statements.length > 0) await database.replay(change.statements, message.seq);
      this.#seen = message.seq;
      this.#reason = '';
      if (this.#ending.signal.aborted) return;
    }
  }

  async #opened(): Promise<Database | undefined> {
    if (this.#database) return this.#database;
    if (!existsSync(this.path)) return undefined;
    this.#database = await this.#parts.open(this.path);
    return this.#database;
  }

  /** Replaces the copy by the one in the object store. */
  async #fetch(): Promise<Database> {
    const objects = await objectsOf(this.#parts.nats, false);
    const bytes = await fetchObject(objects, DATABASE_OBJECT);
    if (!bytes) throw new Failure('conflict', 'The controller has not stored its database yet.');
    await this.#database?.close();
    this.#database = undefined;
    const unfinished = join(this.#parts.directory, 'fetched.unfinished');
    await writeFile(unfinished, bytes, { mode: 0o600, flush: true });
    for (const suffix of ['-wal', '-shm']) await rm(`${this.path}${suffix}`, { force: true });
    await rename(unfinished, this.path);
    this.#database = await this.#parts.open(this.path);
    return this.#database;
  }

  /** Stops following, after the change that is being applied. The database stays open. */
  async stop(): Promise<void> {
    this.#ending.abort();
    this.#messages?.stop();
    await this.#following;
  }
}
