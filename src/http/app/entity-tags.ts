// Entity tags (RFC 9110, section 8.8.3), by which clients avoid loading the same content again.
import { createHash } from 'node:crypto';

/** The strong tag of the content. */
export function entityTag(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('hex').slice(0, 32)}"`;
}

/** Whether `If-None-Match` (section 13.1.2) names this tag, strong or weak. */
export function namesTag(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.split(',').some((candidate) => ['*', tag].includes(candidate.trim().replace(/^W\//, '')));
}
