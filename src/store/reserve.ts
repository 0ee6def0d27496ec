// Space and inodes that are kept for what makes room: on a full disk things can still be deleted, and labs closed.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat, statfs, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { log } from '../host/log.ts';

/** Enough for the file of a lab of some 2,000 nodes, or for as many changes of the database. */
const RESERVE_BYTES = 4 * 2 ** 20;
/** On a small disk no more than this share of it. */
const SHARE = 1 / 16;
/** Bytes that no file system stores smaller than they are. */
const CHUNK = randomBytes(64 * 1024);
/** What is given away at first; others may take it before the work does. When it is not enough, twice as much. */
const FIRST_PART_BYTES = 256 * 1024;
/** Empty files, each of which keeps an inode: enough for a start, or for the changes of several labs. */
const SPARE_INODES = 32;
/** Of these, what is given away at a time. */
const INODES_PART = 8;
/** Milliseconds after which space is looked for again while some of it is missing. */
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

  /** Takes the space; what is not to be had now is taken when it is there. */
  start(): void {
    this.#fill();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#filling;
  }

  /**
   * Does the work; where it fails for want of space, again with a part of what is kept here, until that is used up. `tidy` gives back what
   * the work has needed but for a moment.
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

  /** Answers whether there was something to give. */
  async #giveAway(bytes: number): Promise<boolean> {
    const size = (await stat(this.#path).catch(() => undefined))?.size ?? 0;
    if (size > 0) await truncate(this.#path, Math.max(0, size - bytes));
    const spare = (await readdir(this.#inodes).catch(() => [])).slice(0, INODES_PART);
    // Several users give away at the same time: a file may be gone already.
    for (const name of spare) await rm(join(this.#inodes, name), { force: true });
    return size > 0 || spare.length > 0;
  }

  async #takeAll(): Promise<boolean> {
    const hasInodes = await this.#takeInodes();
    return (await this.#take()) && hasInodes;
  }

  /** The same for inodes. */
  async #takeInodes(): Promise<boolean> {
    if ((await statfs(this.#directory)).files === 0) return true; // a file system that makes them as it needs them
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

  /** Answers whether all of it is there. */
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
