// Runs one command of the client.
import { WRONG_USAGE, WrongUsage } from '../../commands/wrong-usage.ts';
import { Failure, messageOf, systemCode, unavailable } from '../../failures.ts';
import { NOUNS } from '../commands/nouns.ts';
import type { ClientEnvironment } from '../server/server-choice.ts';
import { type Invocation, parseInvocation } from './command.ts';
import { nounHelp, verbHelp } from './help.ts';
import { Session } from './session.ts';

const FAILED = 1;

async function obey({ noun, verb, words, values, common }: Invocation, environment: ClientEnvironment): Promise<void> {
  if (!verb || common.help) {
    process.stdout.write(verb && verb.name !== '' ? verbHelp(noun, verb) : nounHelp(noun));
    return;
  }
  if (common.json && common.quiet) throw new WrongUsage('--json and --quiet exclude each other: choose one.');
  const session = await (verb.isLocal ? Session.withoutServer(common, environment) : Session.open(common, environment));
  session.ending.watch();
  try {
    await verb.run(session, words, values);
  } catch (error) {
    // After an interrupt, connection errors are not reported.
    await session.ending.leaving;
    throw error;
  } finally {
    await session.ending.run();
  }
}

/**
 * Runs the command given by these words.
 * @throws Failure with a message for users; wrong usage sets the exit code
 */
export async function runClient(words: readonly string[], environment: ClientEnvironment): Promise<void> {
  try {
    await obey(parseInvocation(NOUNS, words), environment);
  } catch (error) {
    const { wrongUsage = WRONG_USAGE } = NOUNS.find(({ name }) => name === words[0]) ?? {};
    // Also in the place of the code for changes that were found before.
    process.exitCode = error instanceof WrongUsage ? wrongUsage : FAILED;
    if (error instanceof Failure) throw error;
    const code = systemCode(error);
    if (code === undefined) throw error;
    // The output was closed; `Ending` handles it.
    if (code !== 'EPIPE') throw unavailable(`The connection was lost: ${messageOf(error)}`);
  }
}
