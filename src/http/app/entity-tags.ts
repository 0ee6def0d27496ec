// Entity tags (RFC 9110, section 8.8.3), by which clients avoid loading the same content again.
import { createHash } from 'node:crypto';
import { JsonText } from './route.ts';

/** The strong tag of the content. */
export function entityTag(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('hex').slice(0, 32)}"`;
}

/** Whether `If-None-Match` (section 13.1.2) names this tag, strong or weak. */
export function namesTag(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.split(',').some((candidate) => ['*', tag].includes(candidate.trim().replace(/^W\//, '')));
}

/** The JSON text with its tag, or 304 for a client that has it. */
export function taggedText(text: string, asked: Headers): JsonText | Response {
  const tag = entityTag(text);
  if (namesTag(asked.get('if-none-match'), tag)) return new Response(null, { status: 304, headers: { ETag: tag } });
  return new JsonText(text, { ETag: tag });
}
