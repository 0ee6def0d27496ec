// A program under a pseudo-terminal, which the holder keeps for us.

import { EventEmitter } from 'node:events';
import { stat } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { Failure, messageOf } from '../failures.ts';
import type { Held, HeldListener, HolderClient } from '../holder/client.ts';
import type { HeldExit } from '../holder/protocol.ts';
import { Scrollback } from '../holder/scrollback.ts';
import { findProgram } from '../host/programs.ts';

const GRACE_MILLISECONDS = 3000;
const LAST_OUTPUT_BYTES = 4096;

export interface TerminalOptions {
  /** Keeps the program and its terminal, beyond the life of this process. */
  holder: HolderClient;
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

/** One program under one pseudo-terminal; after its exit it can be started again. */
export class Terminal extends EventEmitter<TerminalEvents> {
  readonly #options: TerminalOptions;
  #held: Held | undefined;
  #starting = false;
  #stopping = false;
  #lastOutput = new Scrollback(LAST_OUTPUT_BYTES);

  constructor(options: TerminalOptions) {
    super();
    this.#options = options;
  }

  /** Process id (also of its session and process group) while it runs. */
  get pid(): number | undefined {
    return this.#held?.pid;
  }

  /** @throws Failure `conflict` when there is no such program or directory, or no pseudo-terminal is free */
  async start(): Promise<void> {
    if (this.#held || this.#starting) return;
    this.#starting = true;
    try {
      await this.#launch();
    } finally {
      this.#starting = false;
    }
  }

  async #launch(): Promise<void> {
    const { holder, program, directory, environment, ...given } = this.#options;
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
    };
    this.#begin();
    try {
      const held = await holder.start(request, this.#listener());
      // A short life is over by now, and was announced.
      if (!held.exit) this.#held = held;
    } catch (error) {
      throw new Failure(
        'conflict',
        `cannot start '${path}': ${messageOf(error)}. Raise the limit of processes, of open files or of pseudo-terminals (kernel.pty.max)`,
        { cause: error },
      );
    }
  }

  /** Takes a program over that runs already; what was kept of its output is announced first. */
  takeBack(held: Held): void {
    this.#begin();
    this.#held = held;
    held.follow(this.#listener());
  }

  #begin(): void {
    this.#stopping = false;
    this.#lastOutput = new Scrollback(LAST_OUTPUT_BYTES);
  }

  #listener(): HeldListener {
    return {
      output: (bytes) => {
        this.#lastOutput.push(bytes);
        this.emit('output', bytes);
      },
      exit: (held, exit) => this.#ended(held, exit),
    };
  }

  #ended(held: Held, { code, signal }: HeldExit): void {
    this.#held = undefined;
    this.#options.holder.forget(held);
    this.emit('exit', { code, signal, expected: this.#stopping, lastOutput: this.lastOutput() });
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
    return this.#held?.write(bytes) ?? false;
  }

  /** Sets the window's size in characters; the program gets SIGWINCH. Values outside 1 … 65,535 are ignored. */
  resize(columns: number, rows: number): void {
    const valid = [columns, rows].every((value) => Number.isInteger(value) && value >= 1 && value <= 65_535);
    if (valid) this.#held?.resize(columns, rows);
  }

  /** Sends a signal to the program and what it started. */
  signal(name: NodeJS.Signals): void {
    this.#held?.signal(name);
  }

  /** SIGTERM, up to three seconds, then SIGKILL, each to the program and what it started; resolves when it is gone. */
  async stop(): Promise<void> {
    const held = this.#held;
    if (!held) return;
    this.#stopping = true;
    const gone = new Promise<void>((resolve) => this.once('exit', () => resolve()));
    held.signal('SIGTERM');
    const kill = setTimeout(() => held.signal('SIGKILL'), GRACE_MILLISECONDS);
    await gone;
    clearTimeout(kill);
  }
}

/** Ends a program that nobody takes back, as `Terminal.stop` does. */
export async function endHeld(holder: HolderClient, held: Held): Promise<void> {
  const terminal = new Terminal({ holder, program: '', arguments: [], directory: '/', environment: {} });
  terminal.takeBack(held);
  await terminal.stop();
}
