// Figures in documents come from runs: nobody edits one, and none stands beside the parts that runs write.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { partOf, partsOf, withoutParts, withPart } from './written.ts';

const project = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(project, path), 'utf8');

for (const path of ['docs/trust.md', 'docs/performance.md']) {
  test(`what runs wrote into ${path} is as they wrote it`, () => {
    const parts = partsOf(read(path));
    assert.ok(parts.length > 0);
    for (const { command, untouched } of parts) {
      assert.ok(untouched, `${path} was edited by hand in what \`${command}\` writes: run that command again`);
    }
  });
}

test('all of docs/trust.md is written by its run', () => {
  assert.equal(withoutParts(read('docs/trust.md')).trim(), '');
});

test('no table of docs/performance.md is written by hand, except for the list of benches', () => {
  const rows = withoutParts(read('docs/performance.md')).match(/^\|.*$/gm) ?? [];
  const others = rows.filter((row) => !/^\| (`[a-z-]+`|`--only`) \||^\|-/.test(row));
  assert.deepEqual(others, []);
});

test('an edited figure, an added row and a removed one are found', () => {
  const table = '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |';
  const document = `# Title\n\n${partOf('npm run x', table)}\nProse.\n`;
  assert.deepEqual(
    partsOf(document).map(({ command, untouched }) => [command, untouched]),
    [['npm run x', true]],
  );
  for (const [from, to] of [
    ['| 3 | 4 |', '| 3 | 5 |'],
    ['| 3 | 4 |\n', ''],
    ['| 3 | 4 |\n', '| 3 | 4 |\n| 5 | 6 |\n'],
    ['npm run x', 'npm run y'],
  ] as const) {
    assert.equal(partsOf(document.replace(from, to))[0]!.untouched, false, `${from} -> ${to}`);
  }
  const again = withPart(document, 'npm run x', '| c |');
  assert.deepEqual([partsOf(again)[0]!.untouched, partsOf(again)[0]!.content.trim()], [true, '| c |']);
  assert.equal(withoutParts(again), '# Title\n\n\nProse.\n');
  assert.throws(() => withPart(document, 'npm run other', ''), /no part/);
});
