// What is said of a host that was looked at: what is there, what is missing, and what to do about it.

/** `warning`: the server runs, but not as well as it could. `missing`: it does not start, or its nodes do not. */
export type State = 'ok' | 'warning' | 'missing';

export interface Verdict {
  state: State;
  detail: string;
  /** What to do about it; for `warning` and `missing`. */
  fix?: string;
}

export const ok = (detail: string): Verdict => ({ state: 'ok', detail });
export const warning = (detail: string, fix: string): Verdict => ({ state: 'warning', detail, fix });
export const missing = (detail: string, fix: string): Verdict => ({ state: 'missing', detail, fix });
