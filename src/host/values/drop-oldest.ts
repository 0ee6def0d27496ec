/** Keeps at most so many entries and drops the oldest. */
export function dropOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}
