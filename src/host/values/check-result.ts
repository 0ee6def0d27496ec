// What is said of a host that was looked at: what is there, what is missing, and what to do about it.

/** `warning`: the server runs, but not as well as it could. `missing`: it does not start, or its nodes do not. */
export type State = 'ok' | 'warning' | 'missing';

export interface Verdict {
  state: State;
  detail: string;
  /** What to do about it; for `warning` and `missing`. */
  fix?: string;
  /** Lines for a shell that do it; none where it is a choice, or needs more than this host tells. */
  commands?: readonly string[];
}

/** What to do, in words, and the commands that do it. */
export interface Remedy {
  words: string;
  commands: readonly string[];
}

/** A remedy that is nothing but commands. */
export const commands = (...lines: string[]): Remedy => ({ words: lines.join('; '), commands: lines });

function told(state: State, detail: string, fix: string | Remedy): Verdict {
  if (typeof fix === 'string') return { state, detail, fix };
  return { state, detail, fix: fix.words, commands: fix.commands };
}

export const ok = (detail: string): Verdict => ({ state: 'ok', detail });
export const warning = (detail: string, fix: string | Remedy): Verdict => told('warning', detail, fix);
export const missing = (detail: string, fix: string | Remedy): Verdict => told('missing', detail, fix);
