// Parses command options, such as `-c 5`.

import { Complaint } from './command.ts';

/** Which options take a number (with its least and most), a text, or nothing. */
export type OptionRules = Readonly<Record<string, readonly [least: number, most: number] | 'text' | 'flag'>>;

export interface Options {
  /** Arguments that are not options. */
  words: string[];
  numbers: Map<string, number>;
  texts: Map<string, string>;
  flags: Set<string>;
}

/** @throws Complaint that names the option */
export function parseOptions(words: readonly string[], rules: OptionRules): Options {
  const options: Options = { words: [], numbers: new Map(), texts: new Map(), flags: new Set() };
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (!/^-./.test(word)) {
      options.words.push(word);
      continue;
    }
    const name = word.slice(1, 2);
    const rule = rules[name];
    if (rule === undefined || (rule === 'flag' && word.length > 2)) throw new Complaint(`Invalid options: ${word}`);
    if (rule === 'flag') {
      options.flags.add(name);
      continue;
    }
    // `-c5` is `-c 5`.
    const value = word.length > 2 ? word.slice(2) : words[++at];
    if (value === undefined) throw new Complaint(`Invalid options: ${word} needs a value`);
    if (rule === 'text') options.texts.set(name, value);
    else options.numbers.set(name, parseNumber(value, `-${name}`, rule));
  }
  return options;
}

/** @throws Complaint that names the value */
export function parseNumber(text: string, name: string, [least, most]: readonly [number, number]): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Complaint(`Invalid options: ${name} must be a number from ${least} to ${most}, not ${text}`);
}
