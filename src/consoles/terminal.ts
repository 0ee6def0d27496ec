// A program under a pseudo-terminal.

import { EventEmitter } from 'node:events';
import { writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { IPty } from 'node-pty';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { closeOnExec, prepareCloseOnExec } from '../host/descriptors.ts';
import { log } from '../host/log.ts';
import { findProgram } from '../host/programs.ts';
import { withTimerSlack } from '../host/timer-slack.ts';
import { Scrollback } from './scrollback.ts';

const GRACE_MILLISECONDS = 3000;
const LAST_OUTPUT_BYTES = 4096;
const INPUT_BYTES = 256 * 1024;
const INPUT_RETRY_MILLISECONDS = 20;

export interface TerminalOptions {
  /** Absolute path, or a name that is looked for on the environment's PATH. */
  program: string;
  arguments: readonly string[];
  /** Working directory; must exist. */
  directory: string;
  /** The program's whole environment (see `childEnvironment`). */
  environment: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
  /** How late the program may be woken from sleeps and time-outs, for programs that poll; 0 leaves the host's precision. */
  timerSlackMilliseconds?: number;
}

export interface TerminalExit {
  /** Exit code; 0 when a signal ended the program. */
  code: number;
  /** Name of the signal that ended it, such as `SIGKILL`. */
  signal: string | undefined;
  /** True when `stop` asked for it. */
  expected: boolean;
  /** The last lines of output as plain text, for a report. */
  lastOutput: string;
}

interface TerminalEvents {
  /** Bytes from the program, unchanged. */
  output: [Buffer];
  /** It is gone, all its output has been announced, the pseudo-terminal is closed. Once per start. */
  exit: [TerminalExit];
}

/** What node-pty's Unix terminals have beyond their declared type. */
type UnixPty = IPty & { readonly fd: number; on(event: 'close', listener: () => void): void };

/** Text without escape sequences and control characters, the last `lines` lines of it. */
function plainText(bytes: Buffer, lines: number): string {
  return (
    bytes
      .toString('utf8')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
      .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])/g, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they have no place in a log
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f]/g, '')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-lines)
      .join('\n')
  );
}

function signalName(number: number | undefined): string | undefined {
  return number ? Object.entries(constants.signals).find(([, value]) => value === number)?.[0] : undefined;
}

/** One program under one pseudo-terminal; after its exit it can be started again. */
export class Terminal extends EventEmitter<TerminalEvents> {
  readonly #options: TerminalOptions;
  #pty: UnixPty | undefined;
  #open = false;
  #stopping = false;
  #lastOutput = new Scrollback(LAST_OUTPUT_BYTES);
  #input: Uint8Array[] = [];
  #inputBytes = 0;
  #inputRetry: NodeJS.Timeout | undefined;

  constructor(options: TerminalOptions) {
    super();
    this.#options = options;
  }

  /** Process id (also of its session and process group) while it runs. */
  get pid(): number | undefined {
    return this.#pty?.pid;
  }

  /** @throws Failure `conflict` when there is no such program or directory, or no pseudo-terminal is free */
  async start(): Promise<void> {
    if (this.#pty) return;
    const { program, directory, environment } = this.#options;
    const path = await findProgram(program, environment['PATH']);
    if (path === undefined) {
      throw new Failure(
        'conflict',
        `cannot start '${program}': no such executable file; install it or correct its path`,
      );
    }
    // Not before there is a program to run: a daemon without nodes needs neither the package nor its addon.
    const { spawn } = await import('node-pty');
    const found = await stat(directory).catch(() => undefined);
    if (!found?.isDirectory()) {
      throw new Failure('conflict', `cannot start '${program}': its working directory '${directory}' does not exist`);
    }
    prepareCloseOnExec();
    if (this.#pty) return;
    this.#launch(path, spawn);
  }

  #launch(path: string, spawn: typeof import('node-pty').spawn): void {
    const {
      arguments: args,
      directory,
      environment,
      columns = 80,
      rows = 24,
      timerSlackMilliseconds = 0,
    } = this.#options;
    const options = { encoding: null, cwd: directory, env: { ...environment }, cols: columns, rows };
    let pty: UnixPty;
    try {
      pty = withTimerSlack(timerSlackMilliseconds, () => spawn(path, [...args], options) as UnixPty);
    } catch (error) {
      throw new Failure(
        'conflict',
        `cannot start '${path}': ${messageOf(error)} Raise the limit of processes, of open files or of pseudo-terminals (kernel.pty.max)`,
        { cause: error },
      );
    }
    // node-pty leaves the master open in every later child: they would keep each other's terminals from hanging up.
    closeOnExec(pty.fd);
    this.#pty = pty;
    this.#open = true;
    this.#stopping = false;
    this.#lastOutput = new Scrollback(LAST_OUTPUT_BYTES);
    // Without an encoding node-pty gives bytes, whatever its types say.
    pty.onData((data) => this.#announce(data as unknown as Buffer));
    pty.on('close', () => this.#dropInput());
    pty.onExit(({ exitCode, signal }) => {
      this.#dropInput();
      this.#pty = undefined;
      const expected = this.#stopping;
      this.emit('exit', { code: exitCode, signal: signalName(signal), expected, lastOutput: this.lastOutput() });
    });
  }

  #announce(data: Buffer): void {
    this.#lastOutput.push(data);
    this.emit('output', data);
  }

  /** The last ten lines of output as plain text. */
  lastOutput(): string {
    return plainText(this.#lastOutput.snapshot(), 10);
  }

  /**
   * Hands bytes to the program, as if typed. False when they were dropped, because it is not running or has left
   * 256 KiB of input unread.
   */
  write(bytes: Uint8Array): boolean {
    if (!this.#open || this.#inputBytes + bytes.length > INPUT_BYTES) return false;
    this.#input.push(bytes);
    this.#inputBytes += bytes.length;
    if (!this.#inputRetry) this.#flush();
    return true;
  }

  // node-pty's own write spins while the program does not read, and may write to a descriptor that it has closed.
  #flush(): void {
    this.#inputRetry = undefined;
    while (this.#open && this.#input.length > 0) {
      const chunk = this.#input[0]!;
      try {
        const written = writeSync(this.#pty!.fd, chunk);
        this.#inputBytes -= written;
        if (written < chunk.length) this.#input[0] = chunk.subarray(written);
        else this.#input.shift();
      } catch (error) {
        if (systemCode(error) === 'EAGAIN') {
          this.#inputRetry = setTimeout(() => this.#flush(), INPUT_RETRY_MILLISECONDS);
          return;
        }
        log.debug('terminal input lost', { program: this.#options.program, reason: messageOf(error) });
        this.#dropInput();
      }
    }
  }

  #dropInput(): void {
    this.#open = false;
    this.#input = [];
    this.#inputBytes = 0;
    clearTimeout(this.#inputRetry);
    this.#inputRetry = undefined;
  }

  /** Sets the window's size in characters; the program gets SIGWINCH. Values outside 1 … 65,535 are ignored. */
  resize(columns: number, rows: number): void {
    const valid = [columns, rows].every((value) => Number.isInteger(value) && value >= 1 && value <= 65_535);
    if (valid && this.#open) this.#pty!.resize(columns, rows);
  }

  /** SIGTERM, up to three seconds, then SIGKILL, each to the program and what it started; resolves when it is gone. */
  async stop(): Promise<void> {
    const pty = this.#pty;
    if (!pty) return;
    this.#stopping = true;
    const gone = new Promise<void>((resolve) => this.once('exit', () => resolve()));
    this.#signal(pty.pid, 'SIGTERM');
    const kill = setTimeout(() => this.#signal(pty.pid, 'SIGKILL'), GRACE_MILLISECONDS);
    await gone;
    clearTimeout(kill);
  }

  #signal(pid: number, signal: NodeJS.Signals): void {
    // The process group (the program and what it started) or, in the first moments before there is one, the process.
    for (const target of [-pid, pid]) {
      try {
        process.kill(target, signal);
        return;
      } catch (error) {
        if (systemCode(error) !== 'ESRCH') throw error;
      }
    }
  }
}
