// The audit trail: a line of JSON for each change, in a file of bounded size with one predecessor. Several programs may append to it.
import { renameSync, statSync } from 'node:fs';
import { appendFile, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemCode } from '../failures.ts';
import { log } from '../host/log.ts';

/** Bytes after which a new file is begun; the one before is kept, the one before that is not. */
export const LARGEST_BYTES = 8 * 1024 * 1024;
const MODE = 0o600;
const NEWLINE = 10;
/** Lines that may wait for the disk. */
const MOST_WAITING = 10_000;

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

  constructor(stateDirectory: string, largest = LARGEST_BYTES) {
    this.path = join(stateDirectory, 'audit.log');
    this.#largest = largest;
  }

  /**
   * Notes a change. Nobody waits for it, and a disk that does not take it refuses no change: what was lost is counted, said in the log,
   * and in the next line that can be written.
   */
  note(line: AuditLine): void {
    if (this.#waiting.length >= MOST_WAITING) this.#lost += 1;
    else this.#waiting.push(`${JSON.stringify(line)}\n`);
    this.#writing ??= this.#write();
  }

  /** Resolves when what was noted before is in the file, or lost. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** The last lines that are wanted, the oldest first. What is no line is left out. */
  async last(most: number, wanted: (line: AuditLine) => boolean = () => true): Promise<AuditLine[]> {
    await this.settled();
    const texts = await Promise.all(
      [`${this.path}.1`, this.path].map((path) => readFile(path, 'utf8').catch(() => '')),
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

  /** In one turn: a program that does the same must not find the new file and put it over the one of before. */
  #beginAnew(): void {
    if ((statSync(this.path, { throwIfNoEntry: false })?.size ?? 0) > this.#largest)
      renameSync(this.path, `${this.path}.1`);
  }
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
