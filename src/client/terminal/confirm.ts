// Asks a person before something is taken away.
import { createInterface } from 'node:readline/promises';
import { Failure } from '../../failures.ts';
import { harmless } from '../../host/terminal/terminal-text.ts';

/**
 * Returns when a person at the terminal says yes, or has said so by `--yes`.
 * @throws Failure when nobody does
 */
export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  const { stdin, stderr } = process;
  if (!stdin.isTTY)
    throw new Failure('conflict', `${question} Nothing was done: nobody is here to ask; say so with --yes.`);
  using reader = createInterface({ input: stdin, output: stderr });
  // Ctrl+C ends the command as ever.
  reader.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const answer = await reader.question(harmless(`${question} [y/N] `));
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('conflict', 'Nothing was done.');
}
