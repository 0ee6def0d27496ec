// A copy of the controller's database on this host, which follows the log: from the last copy in the object store, change by change.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConsumerMessages, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { conflict, Failure, ignore, messageOf } from '../failures.ts';
import type { Database } from '../store/database.ts';
import { answered } from './answered.ts';
import { ChangeReader, type LogMessage } from './log.ts';
import { fetchObject, objectsOf } from './objects.ts';
import { CHANGES, CHANGES_STREAM, DATABASE_OBJECT } from './subjects.ts';

/** How long (ms) until the next attempt to follow, after a failed one. */
const AGAIN_MS = 1_000;
/**
 * Length (ms) of a request for changes. NATS says twice in this time that it is there: the consumer, which one server has, is made again
 * that soon when that server dies. Until then this host could not be the controller.
 */
const PULL_MS = 2_000;
/** Time limit (ms) of a question to JetStream: servers that elect their leader drop some, which must be repeated. */
const ANSWER_MS = 2_000;
/** How long (ms) a copy that could follow the log is good for the next controller, which reads the rest by itself. */
const RECENT_MS = 15_000;
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

/** Puts a copy of the database into the object store, and shortens the log by what the copy has. */
export async function storeCopy(nats: NatsConnection, database: Database, directory: string): Promise<void> {
  const path = join(directory, 'copy.unfinished');
  await rm(path, { force: true });
  try {
    const position = await database.copyTo(path);
    const objects = await objectsOf(nats);
    await objects.put(DATABASE_OBJECT, await readFile(path), { position: String(position) });
    if (position > 0) await (await jetstreamManager(nats)).streams.purge(CHANGES_STREAM, { seq: position + 1 });
  } finally {
    await rm(path, { force: true });
  }
}

export class Replica {
  readonly #parts: ReplicaParts;
  readonly #ending = new AbortController();
  readonly #ended: Promise<never>;
  #messages: ConsumerMessages | undefined;
  #database: Database | undefined;
  #following: Promise<void> | undefined;
  #reason = '';
  /** The number of the last message that was read; it may be of a change that is not whole. */
  #seen = 0;
  #isFollowing = false;
  #followedUntil = Number.NEGATIVE_INFINITY;
  #reader = new ChangeReader();

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    const { promise, reject } = Promise.withResolvers<never>();
    const { signal } = this.#ending;
    signal.addEventListener('abort', () => reject(signal.reason));
    promise.catch(ignore);
    this.#ended = promise;
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

  /** Whether it follows, or did until a moment ago: the server of NATS that sent the changes may have died. */
  get isRecent(): boolean {
    return this.#isFollowing || performance.now() - this.#followedUntil < RECENT_MS;
  }

  /** The number of the last message that was read. */
  get seen(): number {
    return this.#seen;
  }

  /** Without a copy, and if the cluster has none either, begins with the one that `begin` writes. */
  async createFrom(begin: ((path: string) => Promise<unknown>) | undefined): Promise<void> {
    const { directory, nats } = this.#parts;
    if (!begin || existsSync(this.path)) return;
    if (await (await objectsOf(nats)).has(DATABASE_OBJECT)) return;
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
        if (error instanceof Failure && error.code === 'conflict') this.#fellBehind();
        else if (this.#isFollowing) this.#followedUntil = performance.now();
      }
      this.#isFollowing = false;
      await sleep(AGAIN_MS, undefined, { signal }).catch(ignore);
    }
  }

  async #follow(): Promise<void> {
    const { nats, directory } = this.#parts;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const { streams } = await this.#unlessEnded(jetstreamManager(nats, { timeout: ANSWER_MS }));
    const { state } = await this.#unlessEnded(streams.info(CHANGES_STREAM));
    let database = await this.#opened();
    if (!database || (await database.position()) < state.first_seq - 1) database = await this.#fetch();
    const position = await database.position();
    if (position > state.last_seq)
      throw conflict(
        `The log of the cluster ends at change ${state.last_seq}, this host has ${position}: the storage of NATS was lost. Restore it from a backup.`,
      );
    this.#seen = position;
    this.#reader = new ChangeReader();
    const { consumers } = jetstream(nats, { timeout: ANSWER_MS });
    const from = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: position + 1 };
    const consumer = await this.#unlessEnded(consumers.get(CHANGES_STREAM, from));
    const messages = await consumer.consume({ expires: PULL_MS });
    this.#messages = messages;
    if (this.#ending.signal.aborted) messages.stop();
    // With changes left it is not known whether this host can take them, for example on a full disk.
    this.#isFollowing = position >= state.last_seq;
    try {
      for await (const message of messages) {
        await this.#apply(database, message).catch((error: unknown) => {
          this.#fellBehind();
          throw error;
        });
        this.#isFollowing ||= message.seq >= state.last_seq;
        if (this.#isFollowing) this.#reason = '';
        if (this.#ending.signal.aborted) return;
      }
    } finally {
      messages.stop();
    }
  }

  /** Changes are left that it may be unable to take. */
  #fellBehind(): void {
    this.#isFollowing = false;
    this.#followedUntil = Number.NEGATIVE_INFINITY;
  }

  /** The answer of NATS, which may take seconds, or never come. @throws when it is to follow no more */
  #unlessEnded<T>(answer: Promise<T>): Promise<T> {
    answer.catch(ignore);
    this.#ending.signal.throwIfAborted();
    return Promise.race([answer, this.#ended]);
  }

  /** @throws Failure `conflict` if changes before it are missing: the log was shortened meanwhile, so that another copy is needed */
  async #apply(database: Database, message: LogMessage): Promise<void> {
    if (message.seq !== this.#seen + 1) throw conflict('the log was shortened beyond the copy of this host');
    const change = this.#reader.receive(message);
    if (change && change.schema > this.#parts.schema)
      throw conflict(
        `The controller runs a later release of Labwire (schema ${change.schema}, this one knows ${this.#parts.schema}): install it here, too.`,
      );
    if (change && change.statements.length > 0) await database.replay(change.statements, message.seq);
    this.#seen = message.seq;
  }

  /**
   * Stops following, and reads what is left of the log message by message: this needs the leader of the log alone, and not the server that
   * sent the changes, which may have died with the controller.
   * @param isHeld whether this host is still to be the controller
   * @throws Error if the rest cannot be read
   */
  async finish(isHeld: () => boolean): Promise<Database> {
    await this.stop();
    const database = this.#database;
    if (!database) throw new Error('this host has no copy of the database yet');
    const { nats } = this.#parts;
    while (isHeld()) {
      const next = { next_by_subj: CHANGES, seq: this.#seen + 1 };
      const message = await answered(isHeld, async (timeout) => {
        const { streams } = await jetstreamManager(nats, { timeout, checkAPI: false });
        return streams.getMessage(CHANGES_STREAM, next);
      }).catch(ignore);
      if (message === undefined) break;
      if (message === null) return database;
      await this.#apply(database, { seq: message.seq, data: message.data, headers: message.header });
    }
    throw new Error('this host holds the key of the controller no more');
  }

  async #opened(): Promise<Database | undefined> {
    if (this.#database) return this.#database;
    if (!existsSync(this.path)) return undefined;
    this.#database = await this.#parts.open(this.path);
    return this.#database;
  }

  /** Replaces the copy by the one in the object store. */
  async #fetch(): Promise<Database> {
    const bytes = await this.#unlessEnded(fetchObject(this.#parts.nats, DATABASE_OBJECT));
    if (!bytes) throw conflict('The controller has not stored its database yet.');
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
