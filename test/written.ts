// Parts of documents that a run writes and nobody edits: figures stand between two comments, the first of which holds a checksum of
// them. test/written.test.ts finds a part that was changed by hand.
import { createHash } from 'node:crypto';

const PART = /<!-- written by `([^`]+)`, checksum ([0-9a-f]{16}) -->\n([\s\S]*?)<!-- end of what was written -->\n/g;

export interface WrittenPart {
  /** The command that writes it: `npm run bench -- --only start --write`. */
  command: string;
  content: string;
  /** Whether it is as it was written. */
  untouched: boolean;
}

function checksum(command: string, content: string): string {
  return createHash('sha256').update(`${command}\n${content}`).digest('hex').slice(0, 16);
}

/** The part as it stands in a document. */
export function partOf(command: string, content: string): string {
  const text = `\n${content.trim()}\n\n`;
  return `<!-- written by \`${command}\`, checksum ${checksum(command, text)} -->\n${text}<!-- end of what was written -->\n`;
}

/** The parts of a document that runs have written. */
export function partsOf(document: string): WrittenPart[] {
  return [...document.matchAll(PART)].map(([, command, sum, content]) => ({
    ...{ command: command!, content: content! },
    untouched: checksum(command!, content!) === sum,
  }));
}

/** What people have written in a document. */
export function withoutParts(document: string): string {
  return document.replaceAll(PART, '');
}

/** The document with this part written again; an error if it has no such part. */
export function withPart(document: string, command: string, content: string): string {
  const place = document.replaceAll(PART, (part, by: string) => (by === command ? partOf(command, content) : part));
  if (!partsOf(document).some((part) => part.command === command)) {
    throw new Error(`the document has no part that is written by \`${command}\``);
  }
  return place;
}
