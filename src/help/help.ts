// `labwired help` lists the documents, `labwired help TOPIC` shows one. Loaded only when used.
import { spawnSync } from 'node:child_process';
import { styleText } from 'node:util';
import { type Document, documents } from './documents.ts';
import { find } from './find.ts';
import { type Look, rendered } from './render.ts';
import { documentTable } from './table.ts';

/** Width if standard output is no terminal. */
const USUAL_WIDTH = 80;
/** Longer lines are hard to read. */
const WIDEST = 120;
const NARROWEST = 20;

const LOOKS: Record<Look, Parameters<typeof styleText>[0]> = {
  title: ['bold', 'cyan'],
  strong: 'bold',
  emphasis: 'italic',
  code: 'yellow',
  link: 'blue',
};

/** The list of all documents, in lines of at most `width` columns. */
function topicList(all: readonly Document[], width: number): string {
  const rows = all.map(({ topic, title }) => [topic, title]);
  return `${documentTable(['', ''], rows, width - 2)
    .map((line) => `  ${line}`)
    .join('\n')}\n`;
}

/**
 * The output of `labwired help` for these words.
 * @throws Failure `invalid` with the nearest topics
 */
export function helpText(words: readonly string[], width: number): string {
  const all = documents();
  if (words.length === 0)
    return `Documents, of which labwired help TOPIC shows one, and labwired help TOPIC#PART a part of one:\n\n${topicList(all, width)}`;
  const { document, part } = find(all, words);
  const page = { width, topic: document.topic, style: (look: Look, word: string) => styleText(LOOKS[look], word) };
  return `${rendered(page, (part ?? document).tokens).join('\n')}\n`;
}

/** Shows the text in a pager on a terminal, if available; otherwise prints it. */
function show(text: string, environment: Record<string, string | undefined>): void {
  const pager = environment['PAGER'] || 'command -v less >/dev/null && exec less || exit 127';
  if (process.stdout.isTTY && pager !== 'cat') {
    const { status, error } = spawnSync('sh', ['-c', pager], {
      input: text,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', ...environment },
    });
    // The shell returns 127 if the program does not exist.
    if (error === undefined && status !== 127) return;
  }
  process.stdout.write(text);
}

/**
 * `labwired help`, with the words that follow.
 * @param before said first where the documents are listed
 * @param environment names the pager
 * @throws Failure `invalid` for an unknown topic
 */
export function runHelp(
  words: readonly string[],
  { before, environment }: { before: string; environment: Record<string, string | undefined> },
): void {
  const columns = process.stdout.isTTY ? process.stdout.columns : USUAL_WIDTH;
  const width = Math.max(NARROWEST, Math.min(columns || USUAL_WIDTH, WIDEST));
  const text = helpText(words, width);
  show(words.length === 0 ? `${before}\n${text}` : text, environment);
}
