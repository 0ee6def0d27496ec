// The audit trail: a line of JSON for each change, in a file of bounded size with one predecessor. Several programs may append to it.
import { appendFile, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../failures.ts';
import { log } from '../host/log.ts';

/** Bytes after which a new file is begun; the one before is kept, the one before that is not. */
const LARGEST_BYTES = 8 * 1024 * 1024;
const MODE = 0o600;
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

  /** The last lines, the oldest first. What is no line is left out. */
  async last(most: number): Promise<AuditLine[]> {
    await this.settled();
    const texts = await Promise.all(
      [`${this.path}.1`, this.path].map((path) => readFile(path, 'utf8').catch(() => '')),
    );
    const lines = texts
      .join('')
      .split('\n')
      .slice(-most - 1);
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as AuditLine];
      } catch {
        return [];
      }
    });
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0);
      const told = this.#lost > 0 ? `${JSON.stringify({ time: new Date().toISOString(), lost: this.#lost })}\n` : '';
      try {
        const { size } = await stat(this.path).catch(() => ({ size: 0 }));
        if (size > this.#largest) await rename(this.path, `${this.path}.1`);
        await appendFile(this.path, told + lines.join(''), { mode: MODE });
        this.#lost = 0;
      } catch (error) {
        if (this.#lost === 0)
          log.error('the audit trail cannot be written', { path: this.path, error: messageOf(error) });
        this.#lost += lines.length;
      }
    }
    this.#writing = undefined;
  }
}
