// Asks for a secret at the terminal.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** The lines of a pipe, from the first question on. */
let piped: AsyncIterator<string> | undefined;

/** Asks at the terminal without showing the input; from a pipe, reads the next line, empty at its end. */
export async function askSecret(question: string): Promise<string> {
  if (process.stdin.isTTY) return askAtTerminal(question);
  piped ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  // An open pipe must keep the process alive only while it is read.
  process.stdin.ref?.();
  const { value, done } = await piped.next();
  process.stdin.unref?.();
  return done ? '' : (value as string);
}

async function askAtTerminal(question: string): Promise<string> {
  const { stdin, stderr } = process;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  using reader = createInterface({ input: stdin, output: silent, terminal: true });
  // Input is not shown from here on.
  stderr.write(question);
  reader.once('SIGINT', () => process.exit(130));
  const { promise, resolve } = Promise.withResolvers<string>();
  reader.once('line', resolve);
  reader.once('close', () => resolve(''));
  const line = await promise;
  stderr.write('\n');
  return line;
}
