// A program on a pseudo-terminal, held by the supervisor.

import { EventEmitter } from 'node:events';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { conflict, Failure, messageOf } from '../failures.ts';
import { findProgram } from '../host/processes/program-path.ts';
import type { ProgramHandle, ProgramListener, SupervisorClient } from '../supervisor/client.ts';
import { Scrollback } from '../supervisor/scrollback.ts';
import type { ProgramExit } from '../supervisor/welcome.ts';

const GRACE_MS = 3000;
const LAST_OUTPUT_BYTES = 4096;
const LAST_OUTPUT_LINES = 10;

export interface TerminalOptions {
  /** Holds the program and its terminal, beyond the end of this process. */
  supervisor: SupervisorClient;
  /** Absolute path, or a name to look up on the environment's PATH. */
  program: string;
  arguments: readonly string[];
  /** Working directory; must exist. */
  directory: string;
  /** The program's whole environment (see `childEnvironment`). */
  environment: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
  /**
   * How late (ms) the kernel may wake the program from sleeps and time-outs, for programs that poll; 0 keeps the host's
   * precision.
   */
  timerSlackMilliseconds?: number;
  /** The terminal passes bytes unchanged, without echo, like a pipe: for programs with their own terminal handling. */
  raw?: boolean;
  /** File to append the output to. Then the program has no terminal, and there are no `output` events. */
  log?: string;
  /** Names of TAPs to create for it, as its descriptors from 3 on. */
  taps?: readonly string[];
  /** Id of the process in whose network namespace they are created. Default: the supervisor's. */
  tapNetwork?: number;
  /** Kept with the program, for the daemon that reattaches it. */
  record?: object;
}

export interface TerminalExit {
  /** Exit code; 0 if it was ended by a signal. */
  code: number;
  /** Name of the signal that ended it, such as `SIGKILL`. */
  signal: string | undefined;
  /** True after `stop`. */
  expected: boolean;
  /** The last lines of output as plain text, for error messages. */
  lastOutput: string;
}

interface TerminalEvents {
  /** Bytes from the program, unchanged. */
  output: [Buffer];
  /** The program has ended, all its output was reported, the pseudo-terminal is closed. Once per start. */
  exit: [TerminalExit];
}

/** The last `lines` lines of a text, without escape sequences and control characters. */
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

/** The last bytes of a log; empty if it cannot be read. */
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

/** One program on one pseudo-terminal. After its exit it can be started again. */
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

  /** @throws Failure `conflict` if the program or directory is missing, or no pseudo-terminal is free */
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
      throw conflict(`cannot start '${program}': no such executable file; install it or correct its path`);
    }
    const found = await stat(directory).catch(() => undefined);
    if (!found?.isDirectory()) {
      throw conflict(`cannot start '${program}': its working directory '${directory}' does not exist`);
    }
    const request = {
      program: absolute(path),
      arguments: given.arguments,
      directory,
      environment,
      columns: given.columns ?? 80,
      rows: given.rows ?? 24,
      record: given.record ?? {},
      timerSlackMilliseconds: given.timerSlackMilliseconds ?? 0,
      ...(given.log === undefined ? {} : { log: given.log }),
      ...(given.taps === undefined ? {} : { taps: given.taps }),
      ...(given.tapNetwork === undefined ? {} : { tapNetwork: given.tapNetwork }),
      ...(given.raw === undefined ? {} : { raw: given.raw }),
    };
    this.#begin();
    try {
      const handle = await supervisor.start(request, this.#listener());
      // A program that ended at once was already reported.
      if (!handle.exit) this.#handle = handle;
    } catch (error) {
      // A failure has its own fix.
      const fix =
        error instanceof Failure
          ? ''
          : '. Raise the limit of processes, of open files or of pseudo-terminals (kernel.pty.max)';
      throw conflict(`cannot start '${path}': ${messageOf(error)}${fix}`, { cause: error });
    }
  }

  /** Reattaches a running program. Its kept output is reported first. */
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
   * Writes bytes to the program, as if typed. False if they were dropped, because it is not running or has left 256 KiB
   * of input unread.
   */
  write(bytes: Uint8Array): boolean {
    return this.#handle?.write(bytes) ?? false;
  }

  /** Sets the window size in characters; the program gets SIGWINCH. Values outside 1 … 65,535 are ignored. */
  resize(columns: number, rows: number): void {
    const valid = [columns, rows].every((value) => Number.isInteger(value) && value >= 1 && value <= 65_535);
    if (valid) this.#handle?.resize(columns, rows);
  }

  /** Sends a signal to the program and its children. */
  signal(name: NodeJS.Signals): void {
    this.#handle?.signal(name);
  }

  /** SIGTERM, up to three seconds, then SIGKILL, each to the program and its children. Resolves when it has ended. */
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

/** Ends a program that is not reattached, as `Terminal.stop` does. */
export async function endProgram(supervisor: SupervisorClient, handle: ProgramHandle): Promise<void> {
  const terminal = new Terminal({ supervisor, program: '', arguments: [], directory: '/', environment: {} });
  terminal.reattach(handle);
  await terminal.stop();
}
