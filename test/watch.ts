// What passes an interface while a test runs, printed by tshark.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Cleanup } from './cleanup.ts';
import { eventually } from './eventually.ts';

interface Watching {
  said(): string;
  end(): Promise<string>;
}

/**
 * Prints what passes an interface, from now on.
 * @param words further options of tshark
 * @param process whose network it is in; default: this one's
 */
export async function watch(
  t: Cleanup,
  link: string,
  filter: string,
  words: readonly string[] = [],
  process?: number,
): Promise<Watching> {
  const enter = process === undefined ? [] : ['nsenter', '-t', `${process}`, '-n'];
  const [program = '', ...all] = [...enter, 'tshark', '-n', '-l', '-i', link, '-f', filter, ...words];
  const child = spawn(program, all, { stdio: ['ignore', 'pipe', 'pipe'] });
  // By this signal it ends the program that captures for it, too.
  t.after(() => child.kill('SIGINT'));
  let [said, errors] = ['', ''];
  child.stdout.on('data', (bytes) => {
    said += bytes;
  });
  child.stderr.on('data', (bytes) => {
    errors += bytes;
  });
  await eventually('the capture to begin', () => errors.includes('Capturing on'));
  return {
    said: () => said,
    async end() {
      child.kill('SIGINT');
      await once(child, 'close');
      return said;
    },
  };
}
