// The audit trail: a line of JSON for each change, in a file of limited size with one predecessor. Several programs may append to it.
import { existsSync, renameSync, statSync } from 'node:fs';
import { appendFile, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditLine } from '../api/objects.ts';
import { ignoreMissing, messageOf } from '../failures.ts';
import { log } from '../host/log.ts';
import { TaskThread } from '../host/processes/task-thread.ts';
import { MODE, parsed, REFUSED } from './audit-line.ts';
import { type AuditMerge, mergeAudit } from './audit-merge.ts';

export type { AuditLine };

/** Size in bytes at which a new file is begun. Older lines get the same size. */
export const LARGEST_BYTES = 8 * 1024 * 1024;
const NEWLINE = 10;
/** The largest number of lines queued for the disk. */
const MOST_WAITING = 10_000;
/** Refused requests per account and minute with their own lines. Further ones share a line. */
const MOST_REFUSALS = 250;
const REFUSALS_MS = 60_000;

/** Refused requests of an account within a minute. */
interface Refusals {
  /** The number with their own lines. */
  told: number;
  /** The number without, and the last of them. */
  gathered: number;
  last: AuditLine | undefined;
}

export class AuditFile {
  /** `<state>/audit.log` */
  readonly path: string;
  readonly #largest: number;
  readonly #noted: (line: AuditLine) => void;
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  /** The number of lines that could not be written. */
  #lost = 0;
  /** Whether the file may end within a line, because another program was killed or the disk was full. */
  #mayBeTorn = true;
  /** By account. */
  readonly #refusals = new Map<string, Refusals>();
  #minute: NodeJS.Timeout | undefined;

  /** @param noted called with each line of this program, also for those that could not be written */
  constructor(stateDirectory: string, largest = LARGEST_BYTES, noted: (line: AuditLine) => void = () => {}) {
    this.path = join(stateDirectory, 'audit.log');
    this.#largest = largest;
    this.#noted = noted;
  }

  /**
   * Appends a line without waiting. A failed write does not fail the request: lost lines are counted, and reported in
   * the log and in the next line written. Refused requests beyond some hundred a minute share a line.
   */
  note(line: AuditLine): void {
    if (line.status >= REFUSED && this.#gathers(line)) return;
    this.#append(line);
    this.#noted(line);
  }

  /** Appends a line that another host has noted. */
  add(line: AuditLine): void {
    this.#append(line);
  }

  #gathers(line: AuditLine): boolean {
    this.#minute ??= setTimeout(() => this.#endMinute(), REFUSALS_MS).unref();
    const refusals = this.#refusals.get(line.account) ?? { told: 0, gathered: 0, last: undefined };
    this.#refusals.set(line.account, refusals);
    if (refusals.told < MOST_REFUSALS) {
      refusals.told += 1;
      return false;
    }
    refusals.gathered += 1;
    refusals.last = line;
    return true;
  }

  #endMinute(): void {
    clearTimeout(this.#minute);
    this.#minute = undefined;
    this.#tellGathered();
    this.#refusals.clear();
  }

  #tellGathered(): void {
    for (const refusals of this.#refusals.values()) {
      const { gathered, last } = refusals;
      if (last === undefined) continue;
      Object.assign(refusals, { gathered: 0, last: undefined });
      this.#append({ ...last, refused: gathered });
      this.#noted({ ...last, refused: gathered });
    }
  }

  #append(line: AuditLine): void {
    if (this.#waiting.length >= MOST_WAITING) this.#lost += 1;
    else this.#waiting.push(`${JSON.stringify(line)}\n`);
    this.#writing ??= this.#write();
  }

  /** Resolves when earlier lines are written or lost. */
  async settled(): Promise<void> {
    this.#tellGathered();
    await this.#writing;
  }

  /** The last matching lines, oldest first, without invalid ones. */
  async last(most: number, wanted: (line: AuditLine) => boolean = () => true): Promise<AuditLine[]> {
    await this.settled();
    const texts = await Promise.all(
      [this.#before, this.#full, this.path].map((path) => readFile(path, 'utf8').catch(() => '')),
    );
    const found: AuditLine[] = [];
    for (const text of texts.join('').split('\n').reverse()) {
      if (found.length === most) break;
      const line = parsed(text);
      if (line && wanted(line)) found.push(line);
    }
    return found.reverse();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0);
      const told = this.#lost > 0 ? `${JSON.stringify({ time: new Date().toISOString(), lost: this.#lost })}\n` : '';
      const text = told + lines.join('');
      try {
        this.#beginAnew();
        await this.#put(text).catch(async (error: unknown) => {
          // Removing old lines may free enough space.
          if (!(await this.#makeRoom())) throw error;
          await this.#put(text);
        });
        this.#lost = 0;
      } catch (error) {
        if (this.#lost === 0)
          log.error('the audit trail cannot be written', { path: this.path, error: messageOf(error) });
        this.#lost += lines.length;
      }
      await this.#makeRoom();
    }
    this.#writing = undefined;
  }

  async #put(text: string): Promise<void> {
    const end = this.#mayBeTorn && (await isTorn(this.path)) ? '\n' : '';
    this.#mayBeTorn = true;
    await appendFile(this.path, end + text, { mode: MODE });
    this.#mayBeTorn = false;
  }

  get #before(): string {
    return `${this.path}.1`;
  }

  /** A full file, until its lines are merged into the predecessor. */
  get #full(): string {
    return `${this.path}.full`;
  }

  /** Synchronous: another full file may be there only when the lines of this one have been merged. */
  #beginAnew(): void {
    if (existsSync(this.#full)) return;
    if ((statSync(this.path, { throwIfNoEntry: false })?.size ?? 0) > this.#largest) renameSync(this.path, this.#full);
  }

  /** Returns whether there was a full file. */
  async #makeRoom(): Promise<boolean> {
    if (!existsSync(this.#full)) return false;
    try {
      await mergeBeside({ before: this.#before, full: this.#full, largest: this.#largest });
    } catch (error) {
      log.warn('old lines of the audit trail are dropped', { path: this.#before, error: messageOf(error) });
      // If that fails, it is merged after the next lines.
      await rename(this.#full, this.#before).catch(() => {});
    }
    return true;
  }
}

/** File size in bytes up to which merging is so fast that a thread would not pay off. */
const SMALL_BYTES = 256 * 1024;

const thread = new TaskThread<AuditMerge, void>({
  name: 'audit-merge',
  source: new URL('./audit-merge-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 },
});

/** As `mergeAudit`; large files are merged in a thread, to keep the main thread free for clients. */
async function mergeBeside(merge: AuditMerge): Promise<void> {
  const warning = 'the thread that makes room in the audit trail has ended; this is done without';
  if (merge.largest > SMALL_BYTES) await thread.runOr(merge, () => mergeAudit(merge), warning);
  else mergeAudit(merge);
}

/** Whether the last line has no end: an appended line would be invalid, too. */
async function isTorn(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (file === undefined) return false;
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    return size > 0 && buffer[0] !== NEWLINE;
  } finally {
    await file.close();
  }
}
