// SQLite as promises: one connection, one queue, group commit, forward-only migrations.
import { statfsSync } from 'node:fs';
import { open as openFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sqlite3 from 'sqlite3';
import {
  conflict,
  Failure,
  type FailureCode,
  messageOf,
  outOfSpace,
  systemCode,
  temporary,
  unavailable,
} from '../failures.ts';
import { createTemporaryDirectory, fileFailure } from '../host/files/atomic-file.ts';
import { exists } from '../host/files/exists.ts';
import { IDENTITY } from './other-states.ts';
import type { Reserve } from './reserve.ts';

export type SqlValue = string | number | null;

/** Size in bytes of the smallest database. */
export const LEAST_BYTES = 512;
const EMPTY = 'it has no tables';
/** Size in bytes of a page, as this server makes them. */
const PAGE_BYTES = 4096;
/** A part of the file `-shm`, and the pages of the log that it indexes. */
const INDEX_BYTES = 32_768;
const INDEX_FRAMES = 4_062;
const NO_SPACE = 'cannot grow: no space is left for the change; free some and try again';
/** Also compares indexes with their tables: a damaged index hides rows. */
export const CHECK = 'PRAGMA integrity_check(1)';
const MAKE_WRITABLE = 'make it and its directory writable for the user that runs labwired';

/** The statements of one change; either all take effect or none. */
export interface Transaction {
  run(sql: string, ...values: SqlValue[]): Promise<void>;
  get<Row>(sql: string, ...values: SqlValue[]): Promise<Row | undefined>;
  all<Row>(sql: string, ...values: SqlValue[]): Promise<Row[]>;
}

/** A statement that changed something, with its parameters. */
export type Statement = [sql: string, values: readonly SqlValue[]];

/** Keeps changes elsewhere before they are committed here. */
export interface ChangeLog {
  /**
   * Resolves with the number of the change when it is kept.
   * @throws Error with the reason if it is not, or may not be
   */
  append(statements: readonly Statement[]): Promise<number>;
  /** A kept change could not be committed here: the database is older than the log. */
  fellBehind(reason: string): void;
}

/** The number of the last change of the log that a database has, as a setting: it is committed with the change. */
const POSITION = 'log-position';
const PUT_POSITION = `INSERT INTO setting VALUES ('${POSITION}', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

interface Job {
  /** A single statement commits automatically and needs no BEGIN if it is alone, unless it writes and there is a log. */
  single: boolean;
  writes: boolean;
  work(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const READ = { single: true, writes: false };

/** A change that the log did not keep, or that could not be committed afterwards. */
class NotKept extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super(messageOf(failure));
    this.failure = failure;
  }
}

/**
 * A database whose calls take effect in the order of the calls. Calls during a transaction are combined in the next
 * one; each promise resolves after the COMMIT that makes its change durable.
 */
export class Database implements AsyncDisposable {
  readonly #path: string;
  readonly #connection: sqlite3.Database;
  readonly #reserve: Reserve | undefined;
  readonly #statements = new Map<string, sqlite3.Statement>();
  #waiting: Job[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;
  #log: ChangeLog | undefined;
  #completion: ((changes: readonly Statement[]) => Statement | undefined) | undefined;
  /** What the transaction that runs has changed so far; undefined without a log. */
  #changes: Statement[] | undefined;

  private constructor(path: string, connection: sqlite3.Database, reserve: Reserve | undefined) {
    this.#path = path;
    this.#connection = connection;
    this.#reserve = reserve;
  }

  /**
   * Opens or creates the file and migrates it to the version of `migrations` (SQL scripts; `PRAGMA user_version` counts
   * the applied ones). A damaged file or one of a later version is rejected with `Failure('conflict')` and left
   * unchanged. Changes that free space can use the `reserve`.
   */
  static async open(path: string, migrations: readonly string[], reserve?: Reserve): Promise<Database> {
    const { isNew, isUsed } = await createPrivately(path);
    let database: Database | undefined;
    try {
      database = new Database(path, await connect(path), reserve);
      await database.#prepare(migrations, isUsed);
      return database;
    } catch (thrown) {
      await database?.close();
      // The next attempt would take it for one that was emptied.
      if (isNew) for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix, { force: true });
      throw thrown;
    }
  }

  async run(sql: string, ...values: SqlValue[]): Promise<void> {
    await this.#enqueue({ single: true, writes: true }, () => this.#transaction.run(sql, ...values));
  }

  async all<Row>(sql: string, ...values: SqlValue[]): Promise<Row[]> {
    return await this.#enqueue(READ, () => this.#transaction.all<Row>(sql, ...values));
  }

  /** Several statements as one change. `work` may run twice if another caller's change fails the common transaction. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return await this.#enqueue({ single: false, writes: true }, () => work(this.#transaction));
  }

  /** Runs work that frees space; on a full disk it is repeated with the reserved space. */
  async makingRoom<T>(work: () => Promise<T>): Promise<T> {
    // The work has enlarged the database's log: a checkpoint empties and truncates it.
    const tidy = (): Promise<unknown> => this.all('PRAGMA wal_checkpoint(TRUNCATE)');
    return await (this.#reserve === undefined ? work() : this.#reserve.use(work, tidy));
  }

  /** From the next call on every change is kept in this log before it is committed, or in none. */
  async keepIn(changeLog: ChangeLog | undefined): Promise<void> {
    await this.#enqueue(READ, async () => {
      this.#log = changeLog;
    });
  }

  /** From now on the statement that this returns for a change that goes into a log, if any, is part of the change. */
  complete(completion: (changes: readonly Statement[]) => Statement | undefined): void {
    this.#completion = completion;
  }

  /** The number of the last change of the log that it has; 0 without any. */
  async position(): Promise<number> {
    const [row] = await this.all<{ value: string }>('SELECT value FROM setting WHERE name = ?', POSITION);
    return Number(row?.value ?? 0);
  }

  /** Applies a change of the log, with its number. */
  async replay(statements: readonly Statement[], position: number): Promise<void> {
    await this.transaction(async ({ run }) => {
      for (const [sql, values] of statements) await run(sql, ...values);
      await run(PUT_POSITION, String(position));
    });
  }

  /** Writes a copy of the whole database as of one moment into a new file, and returns the position of the copy. */
  async copyTo(path: string): Promise<number> {
    let position = 0;
    await this.#enqueue(READ, async () => {
      const row = await this.#transaction.get<{ value: string }>('SELECT value FROM setting WHERE name = ?', POSITION);
      position = Number(row?.value ?? 0);
      const statement = await this.#statement('VACUUM INTO ?');
      await settle((done) => statement.run([path], done));
    });
    return position;
  }

  /** Finishes pending calls, then closes the file. Later calls fail. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#draining;
    for (const statement of this.#statements.values()) await settle((done) => statement.finalize(done));
    await settle((done) => this.#connection.close(done));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #enqueue<T>(kind: Pick<Job, 'single' | 'writes'>, work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable('the store is closed; labwired is stopping'));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.push({ ...kind, work, resolve: resolve as (value: unknown) => void, reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting;
        this.#waiting = [];
        if (batch.length === 1 || !(await this.#commitTogether(batch))) {
          for (const job of batch) await this.#commitAlone(job);
        }
      }
    } finally {
      this.#draining = undefined;
    }
  }

  /**
   * Runs all jobs in one transaction. Returns false if any of them failed; then nothing is changed and no promise is
   * settled.
   */
  async #commitTogether(batch: Job[]): Promise<boolean> {
    const answers: (() => void)[] = [];
    try {
      await this.#begin();
      for (const job of batch) {
        const value = await job.work();
        answers.push(() => job.resolve(value));
      }
      await this.#commit();
    } catch (thrown) {
      await this.#rollBack();
      if (!(thrown instanceof NotKept)) return false;
      // Alone, each of them would wait for the log again.
      for (const job of batch) job.reject(thrown.failure);
      return true;
    }
    for (const answer of answers) answer();
    return true;
  }

  async #commitAlone(job: Job): Promise<void> {
    const automatic = job.single && !(job.writes && this.#log);
    try {
      if (!automatic) await this.#begin();
      const value = await job.work();
      if (!automatic) await this.#commit();
      job.resolve(value);
    } catch (thrown) {
      if (!automatic) await this.#rollBack();
      job.reject(thrown instanceof NotKept ? thrown.failure : this.#failure(thrown));
    }
  }

  async #begin(): Promise<void> {
    await this.#transaction.run('BEGIN IMMEDIATE');
    this.#changes = this.#log && [];
  }

  async #commit(): Promise<void> {
    const [changeLog, changes] = [this.#log, this.#changes];
    const more = changes && this.#completion?.(changes);
    if (more) await this.#transaction.run(more[0], ...more[1]);
    this.#changes = undefined;
    if (!changeLog || !changes || changes.length === 0) return this.#transaction.run('COMMIT');
    let position: number;
    try {
      position = await changeLog.append(changes);
    } catch (thrown) {
      throw new NotKept(temporary(messageOf(thrown), thrown));
    }
    try {
      await this.#transaction.run(PUT_POSITION, String(position));
      await this.#transaction.run('COMMIT');
    } catch (thrown) {
      const failure = this.#failure(thrown);
      changeLog.fellBehind(messageOf(failure));
      throw new NotKept(failure);
    }
  }

  /** After some errors (a full disk) SQLite has already rolled back; the second attempt's error is ignored. */
  async #rollBack(): Promise<void> {
    this.#changes = undefined;
    await this.#transaction.run('ROLLBACK').catch(() => {});
  }

  readonly #transaction: Transaction = {
    run: async (sql, ...values) => {
      const statement = await this.#statement(sql);
      await settle((done) => statement.run(values, done));
      this.#changes?.push([sql, values]);
    },
    all: async <Row>(sql: string, ...values: SqlValue[]) => {
      const statement = await this.#statement(sql);
      return await settle<Row[]>((done) => statement.all(values, done));
    },
    get: async <Row>(sql: string, ...values: SqlValue[]) => (await this.#transaction.all<Row>(sql, ...values))[0],
  };

  async #statement(sql: string): Promise<sqlite3.Statement> {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const statement = this.#connection.prepare(sql, (error) => (error === null ? resolve() : reject(error)));
    await promise;
    this.#statements.set(sql, statement);
    return statement;
  }

  /** @param isUsed whether it was there at an earlier start, and so must have tables */
  async #prepare(migrations: readonly string[], isUsed: boolean): Promise<void> {
    const { get, all } = this.#transaction;
    let version: number;
    try {
      // Nothing is written before the file is checked.
      const found = (await all<{ integrity_check: string }>(CHECK)).map((row) => row.integrity_check);
      if (found.join() !== 'ok') throw damaged(this.#path, found.join());
      version = (await get<{ user_version: number }>('PRAGMA user_version'))?.user_version ?? 0;
      if (version === 0 && isUsed) throw damaged(this.#path, EMPTY);
    } catch (thrown) {
      throw this.#failure(thrown);
    }
    if (version > migrations.length) {
      throw conflict(
        `${this.#path} was written by a later release of Labwire (schema ${version}, this release knows ${migrations.length}): ` +
          'start that release again, or this one with another state directory (--state)',
      );
    }
    try {
      // WAL with synchronous=NORMAL: an acknowledged commit is with the kernel, so kill -9 of the process loses
      // nothing. A power failure may cost the last moments before it, never consistency; the .gns3 file of each lab is
      // fsynced at each write.
      // Cached pages in KiB: the rows of a change and their index; whole labs are read once, in order.
      await this.#execute(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -512',
      );
      const missing = migrations.slice(version);
      if (missing.length > 0)
        await this.#execute(
          `BEGIN IMMEDIATE; ${missing.join(';')}; PRAGMA user_version = ${migrations.length}; COMMIT`,
        ).catch(async (thrown: unknown) => {
          await this.#rollBack();
          throw thrown;
        });
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  #execute(script: string): Promise<void> {
    return settle((done) => this.#connection.exec(script, done));
  }

  /** Converts an error of SQLite to a message with the fix; others are returned unchanged. */
  #failure(thrown: unknown): unknown {
    const reason = messageOf(thrown);
    const failed = (code: FailureCode, message: string) =>
      new Failure(code, `${this.#path} ${message}`, { cause: thrown });
    switch (systemCode(thrown)) {
      case 'SQLITE_IOERR':
        // SQLite reports only this if a file beside the database could not grow.
        if (!isFull(this.#path)) return failed('internal', `cannot be used: ${reason}; look at the health of the disk`);
        return failed('out-of-space', NO_SPACE);
      case 'SQLITE_FULL':
        return failed('out-of-space', NO_SPACE);
      case 'SQLITE_READONLY':
      case 'SQLITE_CANTOPEN':
        return failed('conflict', `cannot be written (${reason}): ${MAKE_WRITABLE}`);
      case 'SQLITE_BUSY':
        return failed('unavailable', 'is held by another program: end that and try again');
      case 'SQLITE_CORRUPT':
      case 'SQLITE_NOTADB':
        return damaged(this.#path, reason, thrown);
      default:
        return thrown;
    }
  }
}

function damaged(path: string, reason: string, cause?: unknown): Failure {
  return conflict(
    `${path} is damaged (${reason.replaceAll(/\s+/g, ' ')}) and was left as it is: put back a copy of it, or run "labwired recover", which rebuilds it from what can ` +
      'be read of it and from the .gns3 files of the projects',
    { cause },
  );
}

/** False also if that is unknown, as on a disk that is gone. */
function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < 65_536;
  } catch {
    return false;
  }
}

/**
 * The file contains passwords of computes: only the owner may read it and SQLite's files beside it, which inherit its
 * permissions.
 * @returns whether it is new, and whether it was there in a directory that a server has used
 */
async function createPrivately(path: string): Promise<{ isNew: boolean; isUsed: boolean }> {
  await requireRegularFiles(`${path}-journal`, `${path}-wal`, `${path}-shm`);
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile()) {
    throw conflict(`${path} is not a regular file: move it away, and put the database back in its place`);
  }
  const isUsed = found !== undefined && (await exists(join(dirname(path), IDENTITY)));
  // SQLite would take it for a new one, and delete the log beside it.
  if (found && found.size < LEAST_BYTES && (isUsed || found.size > 0)) throw damaged(path, EMPTY);
  await requireRoom(path);
  try {
    await (await openFile(path, 'a', 0o600)).close();
  } catch (thrown) {
    throw conflict(`${path} cannot be opened (${messageOf(thrown)}): ${MAKE_WRITABLE}`, {
      cause: thrown,
    });
  }
  return { isNew: found === undefined, isUsed };
}

/**
 * SQLite maps the file `-shm` into memory after writing one byte to each page of it. Where blocks are smaller than
 * pages, such as in ext4 of less than 512 MiB, that leaves holes, and a full disk would end the process by SIGBUS.
 * @throws Failure `out-of-space`
 */
async function requireRoom(path: string): Promise<void> {
  if (statfsSync(dirname(path)).bsize >= PAGE_BYTES) return;
  const frames = ((await stat(`${path}-wal`).catch(() => undefined))?.size ?? 0) / PAGE_BYTES;
  // Twice as much: the log grows at the start, too.
  const room = Buffer.alloc(2 * INDEX_BYTES * (1 + Math.ceil(frames / INDEX_FRAMES)));
  try {
    await using workshop = await createTemporaryDirectory(dirname(path));
    await writeFile(join(workshop.path, 'room'), room, { flush: true });
  } catch (thrown) {
    const failure = fileFailure(thrown, path);
    if (failure instanceof Failure && failure.code === 'out-of-space')
      throw outOfSpace(`${path} ${NO_SPACE}`, { cause: thrown });
    throw failure;
  }
  await using directory = await openFile(dirname(path), 'r');
  await directory.sync(); // only now are its blocks free
}

/** Opening a pipe would wait for ever. @throws Failure `conflict` for anything but a file or nothing */
export async function requireRegularFiles(...paths: string[]): Promise<void> {
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found && !found.isFile()) throw conflict(`${path} is not a regular file: move it away`);
  }
}

/** Opens a separate connection; waits up to `patience` milliseconds for another program's lock. */
export async function connect(path: string, patience = 500): Promise<sqlite3.Database> {
  const connection = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opening = new sqlite3.Database(path, (error) => (error === null ? resolve(opening) : reject(error)));
  });
  connection.configure('busyTimeout', patience);
  return connection;
}

/** Converts a call with an `(error, value)` callback to a promise. */
export function settle<T = void>(call: (done: (error?: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}
