// Asks for a secret at the terminal.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks at the terminal without showing the input; from a pipe, reads one line. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  using reader = createInterface({ input: stdin, output: silent, terminal: stdin.isTTY });
  // Input is not shown from here on.
  if (stdin.isTTY) stderr.write(question);
  reader.once('SIGINT', () => process.exit(130));
  const { promise, resolve } = Promise.withResolvers<string>();
  reader.once('line', resolve);
  reader.once('close', () => resolve(''));
  const line = await promise;
  if (stdin.isTTY) stderr.write('\n');
  return line;
}
