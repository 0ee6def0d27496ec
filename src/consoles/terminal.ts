// A program under a pseudo-terminal, which the supervisor keeps for us.

import { EventEmitter } from 'node:events';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { Failure, messageOf } from '../failures.ts';
import { findProgram } from '../host/processes/program-path.ts';
import type { ProgramHandle, ProgramListener, SupervisorClient } from '../supervisor/client.ts';
import type { ProgramExit } from '../supervisor/protocol.ts';
import { Scrollback } from '../supervisor/scrollback.ts';

const GRACE_MS = 3000;
const LAST_OUTPUT_BYTES = 4096;
const LAST_OUTPUT_LINES = 10;

export interface TerminalOptions {
  /** Keeps the program and its terminal, beyond the life of this process. */
  supervisor: SupervisorClient;
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
  /** The terminal passes bytes unchanged and echoes nothing, as a pipe would: for programs that do all of that by themselves. */
  raw?: boolean;
  /** File that the output is added to; the program has no terminal then, and `output` is not announced. */
  log?: string;
  /** Names of TAPs that are made for it, as its descriptors from 3 on. */
  taps?: readonly string[];
  /** Kept with the program, for the daemon that takes it back. */
  record?: object;
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

/** The last bytes of a log; none when it cannot be read. */
function endOfFile(path: string): Buffer {
  try {
    using undo = new DisposableStack();
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    undo.defer(() => closeSync(descriptor));
    const buffer = Buffer.alloc(LAST_OUTPUT_BYTES);
    const from = Math.max(0, fstatSync(descriptor).size - LAST_OUTPUT_BYTES);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, LAST_OUTPUT_BYTES, from));
  } catch {
    return Buffer.alloc(0);
  }
}

/** One program under one pseudo-terminal; after its exit it can be started again. */
export class Terminal extends EventEmitter<TerminalEvents> {
  readonly #options: TerminalOptions;
  #handle: ProgramHandle | undefined;
  #starting = false;
  #stopping = false;
  #lastOutput = new Scrollback(LAST_OUTPUT_BYTES);

  constructor(options: TerminalOptions) {
    super();
    this.#options = options;
  }

  /** Process id (also of its session and process group) while it runs. */
  get pid(): number | undefined {
    return this.#handle?.pid;
  }

  /** @throws Failure `conflict` when there is no such program or directory, or no pseudo-terminal is free */
  async start(): Promise<void> {
    if (this.#handle || this.#starting) return;
    this.#starting = true;
    try {
      await this.#launch();
    } finally {
      this.#starting = false;
    }
  }

  async #launch(): Promise<void> {
    const { supervisor, program, directory, environment, ...given } = this.#options;
    const path = await findProgram(program, environment['PATH']);
    if (path === undefined) {
      throw new Failure(
        'conflict',
        `cannot start '${program}': no such executable file; install it or correct its path`,
      );
    }
    const found = await stat(directory).catch(() => undefined);
    if (!found?.isDirectory()) {
      throw new Failure('conflict', `cannot start '${program}': its working directory '${directory}' does not exist`);
    }
    const request = {
      ...{ program: absolute(path), arguments: given.arguments, directory, environment },
      ...{ columns: given.columns ?? 80, rows: given.rows ?? 24, record: given.record ?? {} },
      timerSlackMilliseconds: given.timerSlackMilliseconds ?? 0,
      ...(given.log === undefined ? {} : { log: given.log }),
      ...(given.taps === undefined ? {} : { taps: given.taps }),
      ...(given.raw === undefined ? {} : { raw: given.raw }),
    };
    this.#begin();
    try {
      const handle = await supervisor.start(request, this.#listener());
      // A short life is over by now, and was announced.
      if (!handle.exit) this.#handle = handle;
    } catch (error) {
      throw new Failure(
        'conflict',
        `cannot start '${path}': ${messageOf(error)}. Raise the limit of processes, of open files or of pseudo-terminals (kernel.pty.max)`,
        { cause: error },
      );
    }
  }

  /** Takes a program over that runs already; what was kept of its output is announced first. */
  reattach(handle: ProgramHandle): void {
    this.#begin();
    this.#handle = handle;
    handle.follow(this.#listener());
  }

  #begin(): void {
    this.#stopping = false;
    this.#lastOutput = new Scrollback(LAST_OUTPUT_BYTES);
  }

  #listener(): ProgramListener {
    return {
      output: (bytes) => {
        this.#lastOutput.push(bytes);
        this.emit('output', bytes);
      },
      exit: (handle, exit) => this.#ended(handle, exit),
    };
  }

  #ended(handle: ProgramHandle, { code, signal }: ProgramExit): void {
    this.#handle = undefined;
    this.#options.supervisor.forget(handle);
    this.emit('exit', { code, signal, expected: this.#stopping, lastOutput: this.lastOutput() });
  }

  /** The last ten lines of output as plain text. */
  lastOutput(): string {
    const { log } = this.#options;
    return plainText(log === undefined ? this.#lastOutput.snapshot() : endOfFile(log), LAST_OUTPUT_LINES);
  }

  /**
   * Hands bytes to the program, as if typed. False when they were dropped, because it is not running or has left
   * 256 KiB of input unread.
   */
  write(bytes: Uint8Array): boolean {
    return this.#handle?.write(bytes) ?? false;
  }

  /** Sets the window's size in characters; the program gets SIGWINCH. Values outside 1 … 65,535 are ignored. */
  resize(columns: number, rows: number): void {
    const valid = [columns, rows].every((value) => Number.isInteger(value) && value >= 1 && value <= 65_535);
    if (valid) this.#handle?.resize(columns, rows);
  }

  /** Sends a signal to the program and what it started. */
  signal(name: NodeJS.Signals): void {
    this.#handle?.signal(name);
  }

  /** SIGTERM, up to three seconds, then SIGKILL, each to the program and what it started; resolves when it is gone. */
  async stop(): Promise<void> {
    const handle = this.#handle;
    if (!handle) return;
    this.#stopping = true;
    const gone = new Promise<void>((resolve) => this.once('exit', () => resolve()));
    handle.signal('SIGTERM');
    const kill = setTimeout(() => handle.signal('SIGKILL'), GRACE_MS);
    await gone;
    clearTimeout(kill);
  }
}

/** Ends a program that nobody takes back, as `Terminal.stop` does. */
export async function endProgram(supervisor: SupervisorClient, handle: ProgramHandle): Promise<void> {
  const terminal = new Terminal({ supervisor, program: '', arguments: [], directory: '/', environment: {} });
  terminal.reattach(handle);
  await terminal.stop();
}
