// The documents (README.md and docs/*.md), from the executable (packed by build.mjs) or the source folder.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { marked, type Token, type Tokens } from 'marked';
import { embedded, isPackaged } from '../host/files/assets.ts';

const SOURCES = join(import.meta.dirname, '../..');

export interface Part {
  /** The part after the `#` in links to this heading. */
  anchor: string;
  title: string;
  depth: number;
  /** The heading and all below it, up to the next one that is not deeper. */
  tokens: readonly Token[];
}

export interface Document {
  /** Its name for `labwired help`: the lower-case file name without `.md`. */
  topic: string;
  title: string;
  tokens: readonly Token[];
  /** In the order of the document; the first is its title. */
  parts: readonly Part[];
}

/** Text of each document by its topic. */
function texts(): Record<string, string> {
  const packed = isPackaged() ? embedded('documents.json.br') : undefined;
  if (packed) return JSON.parse(brotliDecompressSync(packed).toString()) as Record<string, string>;
  const names = readdirSync(join(SOURCES, 'docs')).filter((name) => name.endsWith('.md'));
  const read = (path: string): string => readFileSync(join(SOURCES, path), 'utf8');
  return Object.fromEntries([
    ['readme', read('README.md')],
    ...names.map((name) => [name.slice(0, -'.md'.length), read(join('docs', name))] as const),
  ]);
}

/** The text of tokens without markup. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : ''))
    .join('');
}

/** The anchor of a heading, made as on GitHub. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function partsOf(tokens: readonly Token[]): Part[] {
  const used = new Map<string, number>();
  const headings = tokens.flatMap((token, index) =>
    token.type === 'heading' ? [{ heading: token as Tokens.Heading, index }] : [],
  );
  return headings.map(({ heading: { depth, tokens: inline }, index }, position) => {
    const title = plainText(inline);
    const base = anchorOf(title);
    const times = used.get(base) ?? 0;
    used.set(base, times + 1);
    const next = headings.slice(position + 1).find((other) => other.heading.depth <= depth);
    return {
      anchor: times === 0 ? base : `${base}-${times}`,
      title,
      depth,
      tokens: tokens.slice(index, next?.index ?? tokens.length),
    };
  });
}

function documentOf(topic: string, text: string): Document {
  const tokens = marked.lexer(text);
  const parts = partsOf(tokens);
  return { topic, title: parts[0]?.title ?? topic, tokens, parts };
}

/** One document, without the work for all others. */
export function findDocument(topic: string): Document | undefined {
  const text = new Map(Object.entries(texts())).get(topic);
  return text === undefined ? undefined : documentOf(topic, text);
}

/** Topics and titles of all documents, sorted by topic. */
export function titles(): Pick<Document, 'topic' | 'title'>[] {
  return sorted().map(([topic, text]) => ({ topic, title: documentOf(topic, /^# .*$/m.exec(text)?.[0] ?? '').title }));
}

function sorted(): [topic: string, text: string][] {
  return Object.entries(texts()).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** All documents, sorted by topic. */
export function documents(): Document[] {
  return sorted().map(([topic, text]) => documentOf(topic, text));
}

/** The topic and heading that a link in document `from` leads to; undefined for other targets. */
export function linkTarget(from: string, href: string): { topic: string; anchor: string } | undefined {
  const [, path = '', , anchor = ''] = /^([^#:]*)(#(.*))?$/.exec(href) ?? [];
  if (path === '' && anchor === '') return undefined;
  if (path === '') return { topic: from, anchor };
  const name = /^(?:\.\.?\/)*(?:docs\/)?([\w-]+)\.md$/.exec(path)?.[1];
  return name === undefined ? undefined : { topic: name.toLowerCase(), anchor };
}
