// Makes room in the audit trail: the lines of a full file and of the one before it become one file of bounded size.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { MODE, parsed, REFUSED } from './audit-line.ts';

export interface AuditMerge {
  /** The file that is replaced by the lines that are kept of both. */
  before: string;
  /** The file that goes when that is done. */
  full: string;
  /** Bytes that are kept. */
  largest: number;
}

/** Killed at any moment, it leaves the full file or its lines in the one before, so that it can be done again. */
export function mergeAudit({ before, full, largest }: AuditMerge): void {
  const texts = [before, full].map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''));
  const part = `${before}.part`;
  writeFileSync(part, fairShare(texts.join('').split('\n'), largest), { mode: MODE });
  renameSync(part, before);
  rmSync(full);
}

/**
 * The lines that are kept when there is no room for all. Each kind of request of an account makes room for itself: however much somebody
 * does, it pushes out nothing that others have done, and none of their own rare actions.
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
  // Those go first of whose kind there are the most newer lines; among equals the oldest.
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
