// Pseudo-terminals, made by node-pty. Whoever imports this loads its addon: only the supervisor does.
//
// Of node-pty it is the native part that is used: its `spawn` forks this process, and costs more with every program that it has started
// (see spawn.ts); its `open` keeps a descriptor of the programs' end for ever, so that no terminal would notice the end of its program.

import { closeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import * as nodePty from 'node-pty';
import { makeTerminalRaw } from '../system-calls.ts';

interface Native {
  /** Both ends as descriptors, the first one non-blocking, and the path of the second. */
  open(columns: number, rows: number): { master: number; slave: number; pty: string };
  resize(descriptor: number, columns: number, rows: number): void;
}

/** Exported, but left out of its types. */
const { native } = nodePty as unknown as { native: Native };

export interface PseudoTerminal {
  /** What programs write, as bytes; it ends when none has the terminal open any more. Destroying it hangs the terminal up. */
  readonly output: ReadStream;
  /** Of `output`, and for writing to the programs; non-blocking. */
  readonly descriptor: number;
  /** Path of the programs' end. */
  readonly device: string;
  /** In characters, from 1; the programs get SIGWINCH. */
  resize(columns: number, rows: number): void;
}

/**
 * `raw`: bytes pass it unchanged and are not echoed.
 * @throws when the host has no pseudo-terminal or descriptor left
 */
export function openPseudoTerminal(columns: number, rows: number, raw = false): PseudoTerminal {
  const { master, slave, pty } = native.open(columns, rows);
  if (raw) makeTerminalRaw(slave);
  // The program opens its end by itself. One that stayed open here would keep the terminal from ending with the program.
  closeSync(slave);
  const output = new ReadStream(master);
  // EIO says that the last program has closed the terminal; `close` follows.
  output.on('error', () => {});
  return { output, descriptor: master, device: pty, resize: (...size) => native.resize(master, ...size) };
}
