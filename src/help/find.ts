// Finds the document, or part of one, for the words after `labwired help`.
import { WrongUsage } from '../commands/wrong-usage.ts';
import { distance } from '../host/values/nearest-name.ts';
import type { Document, Part } from './documents.ts';

/** Names suggested for an unknown one. */
const OFFERED = 5;

/** The most similar names; those that contain the word come first. */
export function nearest(word: string, names: readonly string[]): string[] {
  const rank = (name: string): number => (name.includes(word) || word.includes(name) ? 0 : distance(word, name));
  return [...names].sort((one, other) => rank(one) - rank(other)).slice(0, OFFERED);
}

const nameOf = ({ topic }: Document, { anchor }: Part): string => `${topic}#${anchor}`;

function findPart(document: Document, words: string): Part {
  const wanted = words.toLowerCase();
  const { parts } = document;
  const exact = parts.find(({ anchor }) => anchor === wanted.replaceAll(' ', '-'));
  const like = parts.filter(({ title }) => title.toLowerCase().includes(wanted));
  const found = exact ?? (like.length === 1 ? like[0] : undefined);
  if (found) return found;
  const offered = like.length > 0 ? like.map(({ anchor }) => anchor) : parts.map(({ anchor }) => anchor);
  const some = nearest(wanted.replaceAll(' ', '-'), offered).map((anchor) => `${document.topic}#${anchor}`);
  const count = like.length > 0 ? `has ${like.length} parts` : 'has no part';
  throw new WrongUsage(`${document.topic} ${count} "${words}". Try labwired help ${some.join(', ')}`);
}

/**
 * @param words `qemu`, `qemu.md`, `qemu#frames`, or `qemu` and words of a heading
 * @returns the document, and the part if one was named
 * @throws Failure `invalid` with the nearest match
 */
export function find(all: readonly Document[], words: readonly string[]): { document: Document; part?: Part } {
  const [first = '', ...rest] = words;
  const [name = '', ...anchor] = first.split('#');
  const topic = name
    .toLowerCase()
    .replace(/^docs\//, '')
    .replace(/\.md$/, '');
  const heading = [anchor.join('#'), ...rest].join(' ').trim();
  const document = all.find((one) => one.topic === topic);
  if (document) return heading === '' ? { document } : { document, part: findPart(document, heading) };
  const named = all.flatMap((one) =>
    one.parts.filter(({ title }) => title.toLowerCase().includes(topic)).map((part) => nameOf(one, part)),
  );
  const topics = nearest(
    topic,
    all.map((one) => one.topic),
  );
  const elsewhere = named.length > 0 ? `. Headings with that word: ${named.slice(0, OFFERED).join(', ')}` : '';
  throw new WrongUsage(`There is no document "${name}". The nearest: ${topics.join(', ')}${elsewhere}`);
}
