// Asks the user before something is deleted.
import { createInterface } from 'node:readline/promises';
import { conflict } from '../../failures.ts';
import { harmless } from '../../host/terminal/terminal-text.ts';

/**
 * Returns if the user agrees or has given `--yes`.
 * @throws Failure otherwise
 */
export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  const { stdin, stderr } = process;
  if (!stdin.isTTY)
    throw conflict(`${question} Nothing was done, because there is no terminal to ask: confirm with --yes.`);
  using reader = createInterface({ input: stdin, output: stderr });
  // Ctrl+C ends the command as ever.
  reader.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // After Ctrl+D no answer comes.
  const left = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  const answer = await Promise.race([reader.question(harmless(`${question} [y/N] `)), left]);
  if (!/^y(es)?$/i.test(answer.trim())) throw conflict('Nothing was done.');
}
