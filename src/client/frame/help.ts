// The `--help` texts, made from the command definitions.
import { COMMON_FLAGS, commandOf, type Flags, LAB_FLAG, type Noun, type Verb } from './command.ts';

const LEFT = 30;

function row(left: string, right: string): string {
  return left.length < LEFT - 2 ? `  ${left.padEnd(LEFT - 2)}${right}` : `  ${left}\n${' '.repeat(LEFT)}${right}`;
}

function flagRows(flags: Flags): string[] {
  return Object.entries(flags).map(([name, { value, short, summary }]) =>
    row(`${short ? `-${short}, ` : ''}--${name}${value === undefined ? '' : ` ${value}`}`, summary),
  );
}

/** A command with its summary, and its own flags below. */
function verbRows(noun: Noun, verb: Verb): string[] {
  const own = flagRows(verb.flags).map((line) => line.replaceAll(/^/gm, '    '));
  return [row(commandOf(noun, verb).replace('labwired ', ''), verb.summary), ...own];
}

/** The output of `labwired NOUN --help`. */
export function nounHelp(noun: Noun): string {
  const common = { ...(noun.verbs.some(({ inLab }) => inLab) && LAB_FLAG), ...COMMON_FLAGS };
  return `labwired ${noun.name}: ${noun.summary}

${noun.verbs.flatMap((verb) => verbRows(noun, verb)).join('\n')}

Options of all of them:
${flagRows(common).join('\n')}
`;
}

/** The output of `labwired NOUN VERB --help`. */
export function verbHelp(noun: Noun, verb: Verb): string {
  const flags = { ...verb.flags, ...(verb.inLab && LAB_FLAG), ...COMMON_FLAGS };
  return `${commandOf(noun, verb)} [options]\n\n${verb.summary}\n\n${flagRows(flags).join('\n')}\n`;
}

/** All commands, for the man page. */
export function allCommands(nouns: readonly Noun[]): string {
  const parts = nouns.map((noun) => noun.verbs.flatMap((verb) => verbRows(noun, verb)).join('\n'));
  return `${parts.join('\n\n')}\n\nOptions of all of these:\n${flagRows({ ...LAB_FLAG, ...COMMON_FLAGS }).join('\n')}\n`;
}
