// The types of nodes that a host cannot run, with the reasons.
import type { UnavailableKind } from '../../../api/routes/compute.ts';
import { api } from './api.ts';

/** How long an answer is cached, because the host searches for programs each time. */
const KEPT_MS = 30_000;
const told = new Map<string, { until: number; answer: Promise<readonly UnavailableKind[]> }>();

/** Empty for hosts whose servers do not report this. */
export function unavailableKindsOf(host: string): Promise<readonly UnavailableKind[]> {
  const kept = told.get(host);
  if (kept && kept.until > Date.now()) return kept.answer;
  const path = `/computes/${encodeURIComponent(host)}/node_types/hindrances`;
  const answer = api.get<UnavailableKind[]>(path).catch((): UnavailableKind[] => []);
  told.set(host, { until: Date.now() + KEPT_MS, answer });
  return answer;
}
