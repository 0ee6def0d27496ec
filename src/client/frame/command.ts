// The definition of a client command, from which its parser, help, man page and shell completions are made.
import { parseArgs } from 'node:util';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { didYouMean, flagMistake } from '../../host/values/nearest-name.ts';
import type { Session, SessionFlags } from './session.ts';

export interface Flag {
  /** The placeholder of the value, such as `FILE`; a flag without one is on or off. */
  value?: string;
  short?: string;
  /** May be given several times; all values count. */
  many?: true;
  summary: string;
}

export type Flags = Readonly<Record<string, Flag>>;

export type Values<F extends Flags> = {
  readonly [Name in keyof F]?: F[Name] extends { value: string; many: true }
    ? readonly string[]
    : F[Name] extends { value: string }
      ? string
      : true;
};

/** The given words: `[LAB]` may be missing, `NODE...` is one or more. */
export type Words<W extends readonly string[]> = string[] extends W
  ? readonly string[]
  : W extends readonly [infer First extends string, ...infer Rest extends readonly string[]]
    ? First extends `[${string}...]`
      ? readonly string[]
      : First extends `${string}...`
        ? readonly [string, ...string[]]
        : First extends `[${string}]`
          ? readonly string[]
          : readonly [string, ...Words<Rest>]
    : readonly [];

export interface Verb<F extends Flags = Flags, W extends readonly string[] = readonly string[]> {
  /** Empty if the noun is a command itself. */
  readonly name: string;
  /** Placeholders of the arguments: `[LAB]` is optional, `NODE...` is one or more. */
  readonly words: W;
  readonly summary: string;
  /** Beside those that every command has. */
  readonly flags: F;
  /** Works within a lab: has `--lab`. */
  readonly inLab?: true;
  /** Needs no server. */
  readonly isLocal?: true;
  run(session: Session, words: Words<W>, values: Values<F>): Promise<void>;
}

export interface Noun {
  readonly name: string;
  readonly summary: string;
  readonly verbs: readonly Verb[];
  /** Exit code for a command line that is not understood, where 2 means something else. */
  readonly wrongUsage?: number;
}

/** Keeps the types of the words and the flags for `run`; without any they may be left out. */
export function verb<const F extends Flags = Record<never, Flag>, const W extends readonly string[] = readonly []>(
  definition: Omit<Verb<F, W>, 'flags' | 'words'> & { flags?: F; words?: W },
): Verb {
  return { flags: {}, words: [], ...definition } as unknown as Verb;
}

export const COMMON_FLAGS = {
  server: {
    value: 'URL',
    summary: 'http://[USER@]HOST:PORT or unix:PATH (the server of the context, or of this host)',
  },
  context: { value: 'NAME', summary: 'a server saved by labwired context add ($LABWIRE_CONTEXT)' },
  'password-file': { value: 'FILE', summary: 'a file whose first line is the password or a token' },
  json: { summary: "the API's own objects, for programs" },
  quiet: { short: 'q', summary: 'identifiers only' },
  help: { short: 'h', summary: 'this text' },
} as const satisfies Flags;

export const LAB_FLAG = {
  lab: {
    value: 'LAB',
    short: 'l',
    summary: 'the lab ($LABWIRE_LAB, else the lab of the context, else the open one)',
  },
} as const satisfies Flags;

/** Of commands that read a lab's file. */
export const OUTSIDE = {
  'allow-outside': { summary: 'allow files outside the folder of the lab file ({file: PATH})' },
} as const satisfies Flags;

export function flagsOf(verb: Verb): Flags {
  return { ...verb.flags, ...(verb.inLab && LAB_FLAG), ...COMMON_FLAGS };
}

/** `labwired node create NAME`. */
export function commandOf(noun: Noun, { name, words }: Verb): string {
  return ['labwired', noun.name, name, ...words].filter((word) => word !== '').join(' ');
}

export interface Invocation {
  noun: Noun;
  /** Undefined: only help is wanted, of the whole noun. */
  verb: Verb | undefined;
  words: string[];
  values: Values<Flags>;
  common: SessionFlags & { readonly help?: true };
}

/**
 * Parses the words after `labwired`, the first of which is a noun.
 * @throws WrongUsage with the fix
 */
export function parseInvocation(nouns: readonly Noun[], given: readonly string[]): Invocation {
  const [first = '', ...rest] = given;
  const noun = nouns.find(({ name }) => name === first);
  if (!noun)
    throw new WrongUsage(
      `There is no command "${first}"${didYouMean(
        first,
        nouns.map(({ name }) => name),
      )} See labwired --help`,
    );
  const see = `See labwired ${noun.name} --help`;
  const single = noun.verbs.length === 1 && noun.verbs[0]!.name === '' ? noun.verbs[0] : undefined;
  const [name = '', ...behind] = single ? ['', ...rest] : rest;
  if (!single && (name === '' || name === 'help' || name === '--help' || name === '-h')) {
    if (name === '')
      throw new WrongUsage(`Say what to do: labwired ${noun.name} ${noun.verbs.map((verb) => verb.name).join('|')}`);
    return { noun, verb: undefined, words: [], values: {}, common: {} };
  }
  const verb = single ?? noun.verbs.find((candidate) => candidate.name === name);
  if (!verb)
    throw new WrongUsage(
      name.startsWith('-')
        ? `Write the flag ${name} after the verb: labwired ${noun.name} VERB ${name}. ${see}`
        : `There is no "labwired ${noun.name} ${name}"${didYouMean(
            name,
            noun.verbs.map((one) => one.name),
          )} ${see}`,
    );
  const options = Object.fromEntries(
    Object.entries(flagsOf(verb)).map(([flag, { value, short, many = false }]) => [
      flag,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short && { short }),
        multiple: many,
      },
    ]),
  );
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    parsed = parseArgs({ args: behind, options, allowPositionals: true });
  } catch (error) {
    throw new WrongUsage(`${flagMistake(error, Object.keys(options))} ${see}`);
  }
  const values = parsed.values as Invocation['values'];
  const invocation = { noun, verb, words: parsed.positionals, values, common: values as Invocation['common'] };
  if (!invocation.common.help) checkCount(noun, verb, parsed.positionals);
  return invocation;
}

function checkCount(noun: Noun, verb: Verb, given: readonly string[]): void {
  const least = verb.words.filter((word) => !word.startsWith('[')).length;
  const most = verb.words.at(-1)?.replace(']', '').endsWith('...') ? Number.POSITIVE_INFINITY : verb.words.length;
  const write = `Write: ${commandOf(noun, verb)}`;
  if (given.length < least)
    throw new WrongUsage(`${verb.words[given.length]?.replace('...', '')} is missing. ${write}`);
  if (given.length > most) throw new WrongUsage(`"${given[most]}" is one argument too many. ${write}`);
  // A line may be empty: it is Return.
  const isName = (index: number): boolean => !verb.words[Math.min(index, verb.words.length - 1)]?.startsWith('LINE');
  if (given.some((word, index) => word === '' && isName(index))) throw new WrongUsage(`An argument is empty. ${write}`);
}
