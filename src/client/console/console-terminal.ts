// A node's console in the terminal of a person, byte for byte, until Ctrl+] or the end of the node.
import type { ReadStream, WriteStream } from 'node:tty';
import type { WebSocket } from 'ws';
import type { NodeObject } from '../../api/objects.ts';
import type { ControlMessage } from '../../consoles/socket-control.ts';
import { conflict, unavailable } from '../../failures.ts';
import type { Session } from '../frame/session.ts';
import { windowSize } from '../terminal/window-size.ts';
import { usableConsole } from './console-socket.ts';

/** Ctrl+], as in telnet. */
const ESCAPE = 0x1d;

/** Turns off what a program on the console may have turned on: mouse, bracketed paste, hidden cursor, colours. */
const CALM = '\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?25h\u001b[0m';
/** The screen that editors use. */
const OTHER_SCREEN = { on: '\u001b[?1049h', off: '\u001b[?1049l' };

/** @throws Failure without a terminal or console, or when the console ends */
export async function attachTerminal(session: Session, node: NodeObject, path: string): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    throw conflict('node console needs a terminal; without one use labwired node exec NODE LINE');
  }
  usableConsole(session, node);
  const { columns: cols, rows } = windowSize(stdout);
  const socket = await session.api.socket(`${path}?cols=${cols}&rows=${rows}`);
  session.remark(`Console of "${node.name}"; Ctrl+] leaves it.`);
  const restore = session.ending.defer(rawTerminal(stdin, stdout, socket));
  let reason: string | undefined;
  try {
    reason = await conversation(stdin, stdout, socket);
  } finally {
    await restore.now();
    socket.terminate();
  }
  if (reason !== undefined) throw unavailable(`The console of "${node.name}" has ended${reason}`);
  session.remark(`Left the console of "${node.name}".`);
}

/** Puts the terminal into raw mode; returns a function that restores it. */
function rawTerminal(stdin: ReadStream, stdout: WriteStream, socket: WebSocket): () => void {
  let otherScreen = false;
  const watch = (data: unknown): void => {
    const [on, off] = [OTHER_SCREEN.on, OTHER_SCREEN.off].map((word) => String(data).lastIndexOf(word));
    if (on !== off) otherScreen = on! > off!;
  };
  socket.on('message', watch);
  stdin.setRawMode(true);
  return () => {
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(`${otherScreen ? OTHER_SCREEN.off : ''}${CALM}\r\n`);
  };
}

/** Lasts until Ctrl+] is pressed, for which nothing is answered, or until the console ends; then why. */
async function conversation(stdin: ReadStream, stdout: WriteStream, socket: WebSocket): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const typed = (keys: Buffer): void => {
    const at = keys.indexOf(ESCAPE);
    const input = at === -1 ? keys : keys.subarray(0, at);
    if (input.length > 0 && socket.readyState === socket.OPEN) socket.send(input);
    if (at !== -1) resolve(undefined);
  };
  const resized = (): void => {
    const { columns: cols, rows } = windowSize(stdout);
    const message: ControlMessage = { type: 'resize', cols, rows };
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  };
  socket.on('message', (data: Buffer) => void stdout.write(data));
  socket.on('close', (_code, why) => resolve(why.length > 0 ? `: ${why.toString()}` : '.'));
  stdin.on('data', typed);
  stdin.once('end', () => resolve(undefined));
  stdout.on('resize', resized);
  socket.resume();
  try {
    return await promise;
  } finally {
    stdin.off('data', typed);
    stdout.off('resize', resized);
  }
}
