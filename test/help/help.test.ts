// The documents as `labwired help` shows them: what leads to them leads somewhere, and no word is lost on the way to a terminal.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { marked, type Token, type Tokens } from 'marked';
import { CHECKS } from '../../src/doctor/doctor.ts';
import { type Document, documents, findDocument, linkTarget, plainText, titles } from '../../src/help/documents.ts';
import { find } from '../../src/help/find.ts';
import { helpText } from '../../src/help/help.ts';
import { contentsHtml, documentHtml } from '../../src/help/html.ts';
import { rendered } from '../../src/help/render.ts';
import { shownWidth } from '../../src/help/wrap.ts';

const project = join(import.meta.dirname, '../..');
const all = documents();

function leadsToNothing(topic: string, anchor: string): boolean {
  const document = all.find((one) => one.topic === topic);
  return !document || (anchor !== '' && !document.parts.some((part) => part.anchor === anchor));
}

test('every line of the doctor leads to an existing heading', () => {
  assert.ok(CHECKS.length > 30);
  const lost = CHECKS.filter(({ see }) => {
    const [topic = '', anchor = ''] = see.split('#');
    return anchor === '' || leadsToNothing(topic, anchor);
  });
  assert.deepEqual(lost, []);
});

test('every link of a document leads to a document, a heading or an existing file', () => {
  const lost: string[] = [];
  for (const { topic, tokens } of all) {
    marked.walkTokens(tokens as Token[], (token) => {
      if (token.type !== 'link' && token.type !== 'image') return;
      const { href } = token as Tokens.Link;
      if (/^https?:/.test(href)) return;
      const target = linkTarget(topic, href);
      const folder = topic === 'readme' ? project : join(project, 'docs');
      if (target ? leadsToNothing(target.topic, target.anchor) : !existsSync(join(folder, href.replace(/#.*/, ''))))
        lost.push(`${topic}: ${href}`);
    });
  }
  assert.deepEqual(lost, []);
});

/** The words of the tokens in the order of the text, without its marks. */
function wordsOf(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token): string[] => {
    const { type } = token;
    if (type === 'table') {
      const { header, rows } = token as Tokens.Table;
      return [...header, ...rows.flat()].flatMap((cell) => plainText(cell.tokens).split(/\s+/));
    }
    if (type === 'list') return (token as Tokens.List).items.flatMap((item) => wordsOf(item.tokens));
    if (type === 'blockquote') return wordsOf(token.tokens!);
    if (type === 'html' || type === 'space' || type === 'hr') return [];
    return plainText([token]).split(/\s+/);
  });
}

const letters = (word: string): string => word.replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Words that the page lacks; how often each is there counts. */
function lostWords({ tokens }: Document, shown: string): string[] {
  const there = new Map<string, number>();
  // A part of a link stands beside what follows it, such as a comma.
  for (const word of shown.split(/\s+/).map(letters)) there.set(word, (there.get(word) ?? 0) + 1);
  const lost: string[] = [];
  for (const word of wordsOf(tokens).map(letters).filter(Boolean)) {
    const left = there.get(word) ?? 0;
    if (left > 0) there.set(word, left - 1);
    else lost.push(word);
  }
  return lost;
}

for (const width of [40, 80, 120]) {
  test(`all documents are shown in ${width} columns, with all their words`, () => {
    for (const document of all) {
      const shown = helpText([document.topic], width);
      assert.deepEqual(lostWords(document, shown), [], document.topic);
      const isOne = (line: string): boolean => !/\S\s+\S/.test(line.replace(/^\s*([*|]|\d+\.) /, ''));
      const wide = shown
        .split('\n')
        .filter(
          (line) => shownWidth(line) > width && !line.includes('    ') && !isOne(line) && !/\[picture:/.test(line),
        );
      assert.deepEqual(wide, [], document.topic);
    }
  });
}

test('as HTML every link leads to a document and to a heading of it, and no word is lost', () => {
  const place = {
    idOf: (_topic: string, anchor: string) => anchor,
    addressOf: (topic: string, anchor: string) => `/docs/${topic}#${anchor}`,
    pictureOf: () => undefined,
  };
  const pages = new Map(all.map((document) => [document.topic, documentHtml(document, place)]));
  const links = [...pages.values(), contentsHtml(all, place)].flatMap((html) => [
    ...html.matchAll(/href="\/docs\/([^"#]*)#([^"]*)"/g),
  ]);
  assert.ok(links.length > 100);
  const lost = links.filter(([, topic = '', anchor = '']) => {
    const html = pages.get(topic);
    return html === undefined || (anchor !== '' && !html.includes(` id="${anchor}"`));
  });
  assert.deepEqual(lost, []);
  const characters: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  for (const document of all) {
    const text = pages.get(document.topic)!.replaceAll(/<[^>]*>/g, ' ');
    const words = text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (entity) => characters[entity]!);
    const joined = letters(words);
    const missing = wordsOf(document.tokens).filter((word) => !joined.includes(letters(word)));
    assert.deepEqual(missing, [], document.topic);
  }
});

test('a single document and the list of titles are those of all documents', () => {
  assert.deepEqual(
    titles(),
    all.map(({ topic, title }) => ({ topic, title })),
  );
  assert.deepEqual(findDocument('qemu')?.parts, all.find(({ topic }) => topic === 'qemu')?.parts);
  for (const topic of ['nothing', 'constructor', '__proto__']) assert.equal(findDocument(topic), undefined);
});

test('tables, lists, links and code are shown so that they can be read and copied', () => {
  const text = `# Title

A long line with a [link](qemu.md#frames), \`code words\` and **strong** words.

* one
* two, which is long enough to be wrapped

| Name | What it is for |
|---|---|
| \`a\` | the first of them, in many words |
| \`b\` | |

    copy --this\\
`;
  const page = { width: 30, topic: 'clouds', style: (_: string, word: string) => word };
  assert.deepEqual(rendered(page, marked.lexer(text)), [
    '# Title',
    '',
    'A long line with a link',
    '[qemu#frames], code words and',
    'strong words.',
    '',
    '* one',
    '* two, which is long enough to',
    '  be wrapped',
    '',
    'Name  What it is for',
    '────  ────────────────────────',
    'a     the first of them, in',
    '      many words',
    '',
    'b',
    '',
    '    copy --this\\',
  ]);
  const narrow = rendered({ ...page, width: 14 }, marked.lexer(text));
  assert.deepEqual(narrow.slice(narrow.indexOf('Name: a'), narrow.indexOf('Name: b') + 1), [
    'Name: a',
    '  What it is',
    '  for: the',
    '  first of',
    '  them, in',
    '  many words',
    '',
    'Name: b',
  ]);
});

test('a part is shown alone, and found by its anchor or by words of its heading', () => {
  for (const words of [['qemu#disk-space'], ['qemu', 'disk', 'space'], ['docs/qemu.md', 'Disk'], ['QEMU#Disk-Space']]) {
    const shown = stripVTControlCharacters(helpText(words, 80));
    assert.match(shown, /^## Disk space\n/);
    assert.doesNotMatch(shown, /^## (?!Disk)/m);
  }
});

test('an unknown topic is answered by the most similar one', () => {
  assert.throws(() => find(all, ['qemo']), /There is no document "qemo"\. The nearest: qemu, /);
  assert.throws(() => find(all, ['privileges']), /Headings with that word: .*clouds#privileges/);
  assert.throws(
    () => find(all, ['qemu#frame-rates']),
    /qemu has no part "frame-rates"\. Try labwired help .*qemu#frames/,
  );
  assert.throws(() => find(all, ['cluster', 'copies']), /cluster has \d parts "copies"/);
  assert.match(helpText([], 80), /^ {2}qemu +QEMU machines$/m);
});
