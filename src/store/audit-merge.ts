// Makes room in the audit trail: merges a full file and the one before it into one file of limited size.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { MODE, parsed, REFUSED } from './audit-line.ts';

export interface AuditMerge {
  /** The older file, replaced by the lines kept from both. */
  before: string;
  /** The full file, deleted afterwards. */
  full: string;
  /** The largest merged size in bytes. */
  largest: number;
}

/** If killed at any moment, it leaves the full file, or its lines in the older one, and can be repeated. */
export function mergeAudit({ before, full, largest }: AuditMerge): void {
  const texts = [before, full].map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''));
  const part = `${before}.part`;
  writeFileSync(part, fairShare(texts.join('').split('\n'), largest), { mode: MODE });
  renameSync(part, before);
  rmSync(full);
}

/**
 * Selects the lines to keep if not all fit. Lines of the same account and kind of request displace each other: many
 * requests of one account never displace lines of others, nor its own rare actions.
 */
function fairShare(texts: readonly string[], largest: number): string {
  const counts = new Map<string, number>();
  const lines: { at: number; text: string; rank: number }[] = [];
  for (const [at, text] of [...texts.entries()].reverse()) {
    const line = parsed(text);
    if (line === undefined) continue;
    const kind = JSON.stringify([line.account, line.action, line.status >= REFUSED]);
    const rank = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, rank);
    lines.push({ at, text: `${text}\n`, rank });
  }
  // First to go are lines with the most newer lines of their kind; among equals the oldest.
  lines.sort((one, other) => one.rank - other.rank || other.at - one.at);
  let room = largest;
  const over = lines.findIndex(({ text }) => {
    room -= Buffer.byteLength(text);
    return room < 0;
  });
  const kept = over < 0 ? lines : lines.slice(0, over);
  return kept
    .sort((one, other) => one.at - other.at)
    .map(({ text }) => text)
    .join('');
}
