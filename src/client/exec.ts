// `labwired node exec`: one line at a node's console, and its answer.
import { messageOf } from '../failures.ts';
import { usableConsole } from './console-socket.ts';
import { talk } from './console-talk.ts';
import type { NodeObject } from './objects.ts';
import { secondsOf } from './seconds.ts';
import type { Session } from './session.ts';
import { WrongUsage } from './wrong-usage.ts';

const USUAL_SECONDS = 30;

export interface ExecOptions {
  line: string;
  until?: string;
  timeout?: string;
}

/** @throws WrongUsage */
function expressionOf(until: string | undefined): RegExp | undefined {
  try {
    return until === undefined ? undefined : new RegExp(until, 'm');
  } catch (error) {
    throw new WrongUsage(`--until: ${messageOf(error)}`);
  }
}

/**
 * Types the line and prints what comes back: until the prompt is there again, `until` is found, or nothing is said for some seconds.
 * @throws WrongUsage before anything is asked; Failure when the time is over
 */
export async function execute(
  session: Session,
  { line, until: expression, timeout }: ExecOptions,
  find: () => Promise<{ node: NodeObject; path: string }>,
): Promise<void> {
  const until = expressionOf(expression);
  const seconds = secondsOf('--timeout', timeout, USUAL_SECONDS);
  if (session.json) throw new WrongUsage('--json: what a console says is no object of the API; leave it out.');
  if (/[\r\n]/.test(line)) throw new WrongUsage('exec types one line; give several to several commands.');
  const { node, path } = await find();
  usableConsole(session, node);
  const hear = (text: string): void => {
    if (text !== '' && !session.quiet) process.stdout.write(text);
  };
  await talk(session, path, { line, until, seconds, hear });
}
