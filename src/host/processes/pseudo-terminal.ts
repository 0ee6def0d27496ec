// Pseudo-terminals, created by node-pty. Importing this file loads node-pty's addon; only the supervisor does so.
//
// Only the native part of node-pty is used. Its `spawn` forks this process, and costs more with every program it has
// started (see spawn.ts). Its `open` keeps a descriptor of the programs' end open for ever, so a terminal would never
// notice that its program has ended.

import { closeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import * as nodePty from 'node-pty';
import { makeTerminalRaw } from '../system-calls.ts';

interface Native {
  /** Both ends as descriptors, the first one non-blocking, and the path of the second. */
  open(columns: number, rows: number): { master: number; slave: number; pty: string };
  resize(descriptor: number, columns: number, rows: number): void;
}

/** Exported, but missing from its types. */
const { native } = nodePty as unknown as { native: Native };

export interface PseudoTerminal {
  /**
   * The programs' output as bytes. It ends when no program has the terminal open. Destroying it hangs the terminal up.
   */
  readonly output: ReadStream;
  /** The descriptor of `output`, also for writing to the programs; non-blocking. */
  readonly descriptor: number;
  /** Path of the programs' end. */
  readonly device: string;
  /** In characters, from 1. The programs get SIGWINCH. */
  resize(columns: number, rows: number): void;
}

/**
 * `raw`: bytes pass unchanged and are not echoed.
 * @throws when the host has no pseudo-terminal or descriptor left
 */
export function openPseudoTerminal(columns: number, rows: number, raw = false): PseudoTerminal {
  const { master, slave, pty } = native.open(columns, rows);
  if (raw) makeTerminalRaw(slave);
  // The program opens its own end. If it stayed open here, the terminal would not end with the program.
  closeSync(slave);
  const output = new ReadStream(master);
  // EIO means that the last program has closed the terminal; `close` follows.
  output.on('error', () => {});
  return { output, descriptor: master, device: pty, resize: (...size) => native.resize(master, ...size) };
}
