// Entry of the client commands: a separate script in the executable, which the server does not load.
import { endAfter } from '../start/end-after-failure.ts';
import { runDemo } from './demo/demo.ts';
import { runClient } from './frame/run.ts';
import type { ClientEnvironment } from './server/server-choice.ts';

export function main(words: readonly string[], environment: ClientEnvironment): void {
  runClient(words, environment).catch(endAfter);
}

export function demo(url: string): Promise<void> {
  return runDemo(url, (text) => void process.stdout.write(text));
}
