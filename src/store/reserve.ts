// Reserves space and inodes for changes that free space: on a full disk things can still be deleted and labs closed.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat, statfs, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { log } from '../host/log.ts';

/** Enough for the file of a lab of some 2,000 nodes, or for as many changes of the database. */
const RESERVE_BYTES = 4 * 2 ** 20;
/** The largest share of a small disk. */
const SHARE = 1 / 16;
/** Bytes that no file system can compress. */
const CHUNK = randomBytes(64 * 1024);
/**
 * The first part to be freed; other programs may take it before the work does. If it is not enough, twice as much is
 * next.
 */
const FIRST_PART_BYTES = 256 * 1024;
/** Empty files that each reserve an inode: enough for a start, or for changes of several labs. */
const SPARE_INODES = 32;
/** The number of them freed at a time. */
const INODES_PART = 8;
/** How long (ms) until missing space is requested again. */
const PATIENCE_MS = 10_000;

function isForSpace(error: unknown): boolean {
  return error instanceof Failure && error.code === 'out-of-space';
}

function isShortage(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '');
}

export class Reserve {
  readonly #directory: string;
  readonly #path: string;
  /** Directory of the empty files. */
  readonly #inodes: string;
  #users = 0;
  #filling: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, 'reserve');
    this.#inodes = join(directory, 'reserve-inodes');
  }

  /** Reserves the space; what is unavailable now is reserved later. */
  start(): void {
    this.#fill();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#filling;
  }

  /**
   * Runs the work. If it fails because the disk is full, it is repeated with a part of the reserve, until that is used up.
   * `tidy` frees what the work needed only for a moment.
   */
  async use<T>(work: () => Promise<T>, tidy: () => Promise<unknown> = async () => {}): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isForSpace(error)) throw error;
    }
    this.#users += 1;
    try {
      await this.#filling;
      for (let part = FIRST_PART_BYTES; await this.#giveAway(part); part *= 2) {
        try {
          return await work();
        } catch (error) {
          if (!isForSpace(error)) throw error;
        }
      }
      return await work();
    } finally {
      await tidy().catch((error: unknown) => log.debug('no space is given back', { error: messageOf(error) }));
      this.#users -= 1;
      this.#fill();
      await this.#filling;
    }
  }

  #fill(): void {
    clearTimeout(this.#timer);
    this.#filling = this.#filling.then(async () => {
      if (this.#users > 0) return;
      const whole = await this.#takeAll().catch((error: unknown) => {
        log.debug('no space can be kept', { path: this.#path, error: messageOf(error) });
        return false;
      });
      if (!whole && !this.#stopped) this.#timer = setTimeout(() => this.#fill(), PATIENCE_MS).unref();
    });
  }

  /** Returns whether there was anything to free. */
  async #giveAway(bytes: number): Promise<boolean> {
    const size = (await stat(this.#path).catch(() => undefined))?.size ?? 0;
    if (size > 0) await truncate(this.#path, Math.max(0, size - bytes));
    const spare = (await readdir(this.#inodes).catch(() => [])).slice(0, INODES_PART);
    // Several users may free at the same time: a file may be gone already.
    for (const name of spare) await rm(join(this.#inodes, name), { force: true });
    return size > 0 || spare.length > 0;
  }

  async #takeAll(): Promise<boolean> {
    const hasInodes = await this.#takeInodes();
    return (await this.#take()) && hasInodes;
  }

  /** As `#take`, for inodes. */
  async #takeInodes(): Promise<boolean> {
    if ((await statfs(this.#directory)).files === 0) return true; // a file system that creates them on demand
    try {
      await mkdir(this.#inodes, { mode: 0o700 }).catch((error: unknown) => {
        if (systemCode(error) !== 'EEXIST') throw error;
      });
      const there = new Set(await readdir(this.#inodes));
      for (let number = 0; number < SPARE_INODES; number += 1) {
        if (!there.has(`${number}`)) await (await open(join(this.#inodes, `${number}`), 'wx', 0o600)).close();
      }
      return true;
    } catch (error) {
      if (isShortage(error)) return false;
      throw error;
    }
  }

  /** Returns whether the reserve is complete. */
  async #take(): Promise<boolean> {
    const { blocks, bsize } = await statfs(this.#directory);
    const wanted = Math.min(RESERVE_BYTES, Math.floor(blocks * bsize * SHARE));
    let size = (await stat(this.#path).catch(() => undefined))?.size ?? 0;
    if (size >= wanted) return true;
    const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
    const file = await open(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
    try {
      while (size < wanted) {
        const { bytesWritten } = await file.write(CHUNK, 0, Math.min(CHUNK.length, wanted - size));
        size += bytesWritten;
      }
      return true;
    } catch (error) {
      if (isShortage(error)) return false;
      throw error;
    } finally {
      await file.close();
    }
  }
}
