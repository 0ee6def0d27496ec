// The audit trail: a line of JSON for each change, in a file of bounded size with one predecessor. Several programs may append to it.
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { appendFile, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemCode } from '../failures.ts';
import { log } from '../host/log.ts';

/** Bytes after which a new file is begun. As many are kept of the lines before it. */
export const LARGEST_BYTES = 8 * 1024 * 1024;
const MODE = 0o600;
const NEWLINE = 10;
/** Lines that may wait for the disk. */
const MOST_WAITING = 10_000;
/** Refused requests of one account that get lines of their own within a minute. What is refused beyond that shares one line. */
const MOST_REFUSALS = 250;
const REFUSALS_MS = 60_000;
/** Statuses from here on say that nothing was changed. */
const REFUSED = 400;

/** One change. Never a secret, nor the body of a request. */
export interface AuditLine {
  /** ISO 8601, UTC. */
  time: string;
  /** Name of the account; of a command on the host, the system's user. */
  account: string;
  /** Name of the token that spoke for it. */
  token?: string;
  /** The client's address; `this host` for a command. */
  address: string;
  /** Method and pattern of the route, or the command. */
  action: string;
  /** What it was done to: identifiers and names. */
  objects: Readonly<Record<string, string>>;
  /** Status of the answer; 0 for a command that succeeded. */
  status: number;
  /** Number of the request, as in the log. */
  request?: string;
  /** Refused requests of the account that this line stands for: it shows the last of them. */
  refused?: number;
}

/** Refused requests of an account within a minute. */
interface Refusals {
  /** With lines of their own. */
  told: number;
  /** The others, and the last of them. */
  gathered: number;
  last: AuditLine | undefined;
}

export class AuditFile {
  /** `<state>/audit.log` */
  readonly path: string;
  readonly #largest: number;
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  /** Lines that the disk did not take. */
  #lost = 0;
  /** Whether the file may end in the middle of a line: another program was killed, or the disk was full. */
  #mayBeTorn = true;
  /** By account. */
  readonly #refusals = new Map<string, Refusals>();
  #minute: NodeJS.Timeout | undefined;

  constructor(stateDirectory: string, largest = LARGEST_BYTES) {
    this.path = join(stateDirectory, 'audit.log');
    this.#largest = largest;
  }

  /**
   * Notes a change. Nobody waits for it, and a disk that does not take it refuses no change: what was lost is counted, said in the log,
   * and in the next line that can be written. Refused requests beyond some hundred a minute share a line.
   */
  note(line: AuditLine): void {
    if (line.status >= REFUSED && this.#gathers(line)) return;
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
    }
  }

  #append(line: AuditLine): void {
    if (this.#waiting.length >= MOST_WAITING) this.#lost += 1;
    else this.#waiting.push(`${JSON.stringify(line)}\n`);
    this.#writing ??= this.#write();
  }

  /** Resolves when what was noted before is in the file, or lost. */
  async settled(): Promise<void> {
    this.#tellGathered();
    await this.#writing;
  }

  /** The last lines that are wanted, the oldest first. What is no line is left out. */
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
      try {
        this.#beginAnew();
        const end = this.#mayBeTorn && (await isTorn(this.path)) ? '\n' : '';
        this.#mayBeTorn = true;
        await appendFile(this.path, end + told + lines.join(''), { mode: MODE });
        this.#mayBeTorn = false;
        this.#lost = 0;
      } catch (error) {
        if (this.#lost === 0)
          log.error('the audit trail cannot be written', { path: this.path, error: messageOf(error) });
        this.#lost += lines.length;
      }
    }
    this.#writing = undefined;
  }

  get #before(): string {
    return `${this.path}.1`;
  }

  /** A file that is full, as long as its lines are not among those of before. */
  get #full(): string {
    return `${this.path}.full`;
  }

  /** In one turn: a program that does the same must not find the new file and put it over the one of before. */
  #beginAnew(): void {
    if (!existsSync(this.#full)) {
      if ((statSync(this.path, { throwIfNoEntry: false })?.size ?? 0) <= this.#largest) return;
      renameSync(this.path, this.#full);
    }
    try {
      const texts = [this.#before, this.#full].map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''));
      const part = `${this.#before}.part`;
      writeFileSync(part, fairShare(texts.join('').split('\n'), this.#largest), { mode: MODE });
      renameSync(part, this.#before);
      rmSync(this.#full);
    } catch (error) {
      log.warn('old lines of the audit trail are dropped', { path: this.#before, error: messageOf(error) });
      renameSync(this.#full, this.#before);
    }
  }
}

/**
 * The lines that are kept when there is no room for all. Each kind of request of an account makes room for itself: however much somebody
 * does, it pushes out nothing that others have done, and none of their own rare actions.
 */
function fairShare(texts: readonly string[], largest: number): string {
  const counts = new Map<string, number>();
  const lines: { at: number; text: string; rank: number }[] = [];
  for (let at = texts.length - 1; at >= 0; at -= 1) {
    const text = texts[at]!;
    const line = parsed(text);
    if (line === undefined) continue;
    const kind = JSON.stringify([line.account, line.action, line.status >= REFUSED]);
    const rank = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, rank);
    lines.push({ at, text: `${text}\n`, rank });
  }
  // Those go first of whose kind there are the most newer lines; among equals the oldest.
  lines.sort((one, other) => one.rank - other.rank || other.at - one.at);
  let room = largest;
  const over = lines.findIndex(({ text }) => {
    room -= Buffer.byteLength(text);
    return room < 0;
  });
  const kept = over < 0 ? lines : lines.slice(0, over);
  return kept
    .sort((one, other) => one.at - other.at)
    .map(({ text }) => text)
    .join('');
}

/** Whether the last line has no end: what is appended would be no line either. */
async function isTorn(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    return size > 0 && buffer[0] !== NEWLINE;
  } finally {
    await file.close();
  }
}

function parsed(text: string): AuditLine | undefined {
  try {
    return JSON.parse(text) as AuditLine;
  } catch {
    return undefined;
  }
}
