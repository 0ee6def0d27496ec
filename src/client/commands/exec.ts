// `labwired node exec`: types one line at a node's console and prints the output.
import type { NodeObject } from '../../api/objects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { messageOf } from '../../failures.ts';
import { promptAs } from '../console/console-answer.ts';
import { usableConsole } from '../console/console-socket.ts';
import { talk } from '../console/console-talk.ts';
import type { Session } from '../frame/session.ts';
import { secondsOf } from '../terminal/seconds.ts';

const USUAL_SECONDS = 30;

export interface ExecOptions {
  line: string;
  until?: string;
  prompt?: string;
  timeout?: string;
}

/** @throws WrongUsage */
function expressionOf(flag: string, given: string | undefined, made: (given: string) => RegExp): RegExp | undefined {
  try {
    return given === undefined ? undefined : made(given);
  } catch (error) {
    throw new WrongUsage(`${flag}: ${messageOf(error)}`);
  }
}

/**
 * Types the line and prints the output until the prompt returns, `until` is found, or nothing comes for some seconds.
 * @throws WrongUsage before any request; Failure on timeout
 */
export async function execute(
  session: Session,
  { line, timeout, ...ends }: ExecOptions,
  find: () => Promise<{ node: NodeObject; path: string }>,
): Promise<void> {
  const until = expressionOf('--until', ends.until, (given) => new RegExp(given, 'm'));
  const prompt = expressionOf('--prompt', ends.prompt, promptAs);
  if (until && prompt) throw new WrongUsage('--until and --prompt exclude each other: choose one.');
  const seconds = secondsOf('--timeout', timeout, USUAL_SECONDS);
  if (session.json) throw new WrongUsage('--json: console output is not an API object; leave it out.');
  if (/[\r\n]/.test(line)) throw new WrongUsage('exec types one line: use a command per line.');
  const { node, path } = await find();
  usableConsole(session, node);
  const hear = (text: string): void => {
    if (text !== '' && !session.quiet) process.stdout.write(text);
  };
  await talk(session, path, { line, until, prompt, seconds, hear });
}
