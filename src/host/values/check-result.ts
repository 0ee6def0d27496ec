// Results of checks of a host: what was found, what is missing, and the fix.

/** `warning`: the server runs, with restrictions. `missing`: the server or its nodes do not start. */
export type State = 'ok' | 'warning' | 'missing';

export interface Verdict {
  state: State;
  detail: string;
  /** The fix; for `warning` and `missing`. */
  fix?: string;
  /** Shell commands of the fix; missing if it is a choice, or needs more information than this host has. */
  commands?: readonly string[];
}

/** The fix in words, and its commands. */
export interface Remedy {
  words: string;
  commands: readonly string[];
}

/** A fix that consists of commands only. */
export const commands = (...lines: string[]): Remedy => ({ words: lines.join('; '), commands: lines });

function told(state: State, detail: string, fix: string | Remedy): Verdict {
  if (typeof fix === 'string') return { state, detail, fix };
  return { state, detail, fix: fix.words, commands: fix.commands };
}

export const ok = (detail: string): Verdict => ({ state: 'ok', detail });
export const warning = (detail: string, fix: string | Remedy): Verdict => told('warning', detail, fix);
export const missing = (detail: string, fix: string | Remedy): Verdict => told('missing', detail, fix);
