// The interface of a shell command and its environment.

import type { DhcpClient } from '../dhcp.ts';
import type { Host } from '../host.ts';
import type { Job } from '../job.ts';
import type { PcSettings } from '../settings.ts';

export interface Surroundings {
  readonly host: Host;
  readonly settings: PcSettings;
  readonly dhcp: DhcpClient;
  readonly history: string[];
  /** Prints text; `\n` ends a line. */
  print(text: string): void;
  /** Reads a file of the PC; undefined if there is none. */
  readFile(name: string): Job<string | undefined>;
  /** Writes a file of the PC; returns the problem, if any. */
  writeFile(name: string, text: string): Job<string | undefined>;
  /** Runs the lines of a script. */
  runScript(text: string): Job;
  /** Waits for any key. */
  key(): Job;
  quit(): void;
}

export interface Command {
  /** Printed for `?` as an argument. */
  readonly help: string;
  /** Help after the command's name: arguments and effect. */
  readonly summary: readonly [arguments: string, does: string];
  /** Words that may follow, for completion. */
  readonly words?: readonly string[];
  run(words: string[], pc: Surroundings, rest: string): Job;
}

/** Printed instead of the result of a command, and the end of it. */
export class Complaint extends Error {}

export function bold(text: string): string {
  return `\x1b[1m${text}\x1b[0m`;
}

/**
 * The word with this prefix.
 * @throws Complaint if there is none
 */
export function choose(word: string, words: readonly string[], complaint: string): string {
  const fitting = matching(word, words);
  if (fitting.length === 1) return fitting[0]!;
  throw new Complaint(fitting.length === 0 ? complaint : fitting.join('\n'));
}

/** The words that begin so; the very word alone, if it is among them. */
export function matching(word: string, words: readonly string[]): string[] {
  return words.includes(word) ? [word] : words.filter((candidate) => candidate.startsWith(word));
}
