// Which types of nodes a host cannot run, and why.
import { api } from './api.ts';

export interface Hindrance {
  node_type: string;
  /** Null if they run. */
  hindrance: string | null;
}

/** The host looks for programs each time: what it said counts for a while. */
const KEPT_MS = 30_000;
const told = new Map<string, { until: number; answer: Promise<readonly Hindrance[]> }>();

/** Nothing is known of hosts whose servers do not tell. */
export function hindrancesOf(host: string): Promise<readonly Hindrance[]> {
  const kept = told.get(host);
  if (kept && kept.until > Date.now()) return kept.answer;
  const path = `/computes/${encodeURIComponent(host)}/node_types/hindrances`;
  const answer = api.get<Hindrance[]>(path).catch((): Hindrance[] => []);
  told.set(host, { until: Date.now() + KEPT_MS, answer });
  return answer;
}
