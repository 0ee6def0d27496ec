// Entry of the commands that speak to a running server: a script of its own in the executable, which the server neither reads nor keeps.
import { endAfter } from '../start/end-after-failure.ts';
import { runClient } from './frame/run.ts';
import type { ClientEnvironment } from './server/server-choice.ts';

export function main(words: readonly string[], environment: ClientEnvironment): void {
  runClient(words, environment).catch(endAfter);
}
