// The supervisor's side of one program: its terminal, if any, last output, input and end.
import { readSync, writeSync } from 'node:fs';
import { systemCode } from '../failures.ts';
import { openPseudoTerminal, type PseudoTerminal } from '../host/processes/pseudo-terminal.ts';
import { spawnProgram } from '../host/processes/spawn.ts';
import type { StartRequest } from './protocol.ts';
import { Scrollback } from './scrollback.ts';
import type { ProgramExit } from './welcome.ts';

/** Output kept for the next daemon. */
const HISTORY_BYTES = 64 * 1024;
const INPUT_RETRY_MS = 20;
/**
 * Output still read from a program that has ended: more than a terminal holds, with a limit in case its children go on
 * writing.
 */
const LAST_BYTES = 1024 * 1024;
const READ_BYTES = 64 * 1024;

export interface SupervisedProgramEvents {
  output(bytes: Buffer): void;
  /** So much input was written or dropped. */
  taken(bytes: number): void;
}

export class SupervisedProgram {
  readonly pid: number;
  readonly record: object;
  exit: ProgramExit | undefined;
  /** Undefined if the program has a log instead. */
  readonly #terminal: PseudoTerminal | undefined;
  readonly #history = new Scrollback(HISTORY_BYTES);
  readonly #events: SupervisedProgramEvents;
  #open: boolean;
  #input: Buffer[] = [];
  #retry: NodeJS.Timeout | undefined;

  /** @throws SystemError if the program cannot be started, node-pty's error if no terminal is available */
  constructor(request: StartRequest, events: SupervisedProgramEvents) {
    const { columns, rows, raw, record, log } = request;
    this.#events = events;
    this.record = record;
    this.#open = log === undefined;
    if (log !== undefined) {
      this.#terminal = undefined;
      this.pid = spawnProgram({ log }, request);
      return;
    }
    const terminal = openPseudoTerminal(columns, rows, raw);
    this.#terminal = terminal;
    terminal.output.on('close', () => this.#hangUp());
    // Its descriptor is closed by then, and `close` comes after other events.
    terminal.output.on('error', () => this.#hangUp());
    try {
      this.pid = spawnProgram({ terminal: terminal.device }, request);
    } catch (error) {
      terminal.output.destroy();
      throw error;
    }
    terminal.output.on('data', (bytes) => this.#said(bytes));
  }

  get history(): Buffer {
    return this.#history.snapshot();
  }

  /** Stops reading. The program blocks when its terminal is full. */
  pause(): void {
    this.#terminal?.output.pause();
  }

  resume(): void {
    this.#terminal?.output.resume();
  }

  input(bytes: Buffer): void {
    this.#input.push(bytes);
    if (!this.#open) this.#dropInput();
    else if (!this.#retry) this.#flush();
  }

  resize(columns: number, rows: number): void {
    if (this.#open) this.#terminal?.resize(columns, rows);
  }

  /**
   * Signals the process group, or at first, before it exists, the process. It was not waited for, so its pid is not
   * reused.
   */
  signal(name: NodeJS.Signals): void {
    if (this.exit) return;
    for (const target of [-this.pid, this.pid]) {
      try {
        process.kill(target, name);
        return;
      } catch (error) {
        if (systemCode(error) !== 'ESRCH') throw error;
      }
    }
  }

  /** The program has ended: reads its last output and closes the terminal. */
  ended(exit: ProgramExit): void {
    // While paused, the stream may hold data; it is reported like any other.
    if (this.#open) this.#terminal?.output.read();
    if (this.#open && this.#terminal) this.#readRest(this.#terminal);
    this.#hangUp();
    this.exit = exit;
  }

  #readRest({ descriptor }: PseudoTerminal): void {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    try {
      for (let total = 0, read = 1; this.#open && read > 0 && total < LAST_BYTES; total += read) {
        read = readSync(descriptor, buffer);
        this.#said(Buffer.from(buffer.subarray(0, read)));
      }
    } catch {
      // no more data (EAGAIN), or the terminal was hung up (EIO)
    }
  }

  #said(bytes: Buffer): void {
    this.#history.push(bytes);
    this.#events.output(bytes);
  }

  #flush(): void {
    this.#retry = undefined;
    for (let chunk = this.#input[0]; this.#open && this.#terminal && chunk; chunk = this.#input[0]) {
      try {
        const written = writeSync(this.#terminal.descriptor, chunk);
        if (written < chunk.length) this.#input[0] = chunk.subarray(written);
        else this.#input.shift();
        this.#events.taken(written);
      } catch (error) {
        if (systemCode(error) === 'EAGAIN') this.#retry = setTimeout(() => this.#flush(), INPUT_RETRY_MS);
        else this.#dropInput();
        return;
      }
    }
  }

  #dropInput(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    for (const { length } of this.#input.splice(0)) this.#events.taken(length);
  }

  #hangUp(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#dropInput();
    this.#terminal?.output.destroy();
  }
}
