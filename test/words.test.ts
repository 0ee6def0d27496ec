// Keeps the old style out of what people read: texts and comments of the source, documents, and names of tests.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OLD_NAMES, OLD_WORDS, testNamesOf, textsOf } from './words.ts';
import { withoutParts } from './written.ts';

const root = join(import.meta.dirname, '..');

/** Where an old word may stay. */
const EXCEPTIONS: readonly { place: RegExp; text: RegExp; reason: string }[] = [
  {
    place:
      /^(src\/(api\/routes\/compute|compute\/server\/routes|controller\/(accounts\/access|placement\/host-facts|server\/api-objects)|web\/model\/.*)\.ts|docs\/computes\.md)$/,
    text: /node_types\/hindrances|"hindrance": /,
    reason: 'the address and the member of a route that clients use',
  },
];

interface Text {
  line: number;
  text: string;
}

/** Old words with their place and the better word. */
function oldWordsIn(path: string, texts: readonly Text[], old = OLD_WORDS): { found: string; exception: number }[] {
  return texts.flatMap(({ line, text }) =>
    old.flatMap(({ pattern, instead }) =>
      [...text.matchAll(pattern)].map(({ 0: word, index }) => {
        const around = text.slice(Math.max(0, index - 20), index + word.length + 20);
        return {
          found: `${path}:${line + text.slice(0, index).split('\n').length - 1}: "${word}"; write ${instead}`,
          exception: EXCEPTIONS.findIndex(({ place, text: allowed }) => place.test(path) && allowed.test(around)),
        };
      }),
    ),
  );
}

const filesBelow = (directory: string, names: RegExp): string[] =>
  readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => names.test(name))
    .map((name) => `${directory}/${name}`);

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('texts, comments, documents and names of tests have no words of the old style', () => {
  const all = [
    ...filesBelow('src', /\.tsx?$/).flatMap((path) => {
      const source = read(path);
      return [...oldWordsIn(path, textsOf(source)), ...oldWordsIn(path, [{ line: 1, text: source }], OLD_NAMES)];
    }),
    ...['README.md', ...filesBelow('docs', /\.md$/)].flatMap((path) =>
      oldWordsIn(path, [{ line: 1, text: withoutParts(read(path)) }]),
    ),
    ...filesBelow('test', /\.test\.ts$/).flatMap((path) => oldWordsIn(path, testNamesOf(read(path)))),
  ];
  assert.deepEqual(
    all.filter(({ exception }) => exception < 0).map(({ found }) => found),
    [],
  );
  const used = new Set(all.map(({ exception }) => exception));
  assert.deepEqual(
    EXCEPTIONS.filter((_, index) => !used.has(index)).map(({ reason }) => reason),
    [],
    'exceptions that nothing needs',
  );
});

test('planted old words are found with file, line and the better word, but not in code', () => {
  const source = [
    '/** Whoever asks first. */',
    'const told = tells(nobody);',
    "fail('the server lacks Docker');",
    `log("\${told} is the server's to tell; \${told ? 1 : 2}");`,
    '// fine',
    "fail('read-only; leave it out'); // begins anew",
  ].join('\n');
  assert.deepEqual(
    oldWordsIn('x.ts', textsOf(source)).map(({ found }) => found.replace(/; write.*/, '')),
    ['x.ts:1: "Whoever"', 'x.ts:3: "lacks"', 'x.ts:4: "to tell"', 'x.ts:6: "anew"'],
  );
  assert.deepEqual(
    oldWordsIn('x.ts', [{ line: 1, text: 'node\n  .takeBackStart()' }], OLD_NAMES).map(({ found }) => found),
    ['x.ts:2: "takeBackStart"; write `reattach`, `rollBack`, `cancel`'],
  );
  const call = 'test';
  const names = `${call}('a client is told', () => {});\nt.${call}(\n  "what is there \${told}",\n);\nassert.equal('told', '');`;
  assert.deepEqual(
    oldWordsIn('x.test.ts', testNamesOf(names)).map(({ found }) => found),
    [
      'x.test.ts:1: "told"; write "reports", "answers"; of properties "read-only"',
      'x.test.ts:2: "what is there"; write "existing", "missing"',
    ],
  );
});
