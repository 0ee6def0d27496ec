// The lint that forbids to decide containment by how a path begins: that it would notice.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

const root = join(import.meta.dirname, '..');

/** How often our own rule is broken by these lines. */
function reports(t: TestContext, lines: readonly string[]): number {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-lint-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const name of ['biome.json', 'path-prefix.grit']) copyFileSync(join(root, name), join(directory, name));
  mkdirSync(join(directory, 'src'));
  writeFileSync(join(directory, 'src/example.ts'), lines.join('\n'));
  const words = [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'lint', 'src'];
  const { stderr, stdout } = spawnSync(process.execPath, words, { cwd: directory, encoding: 'utf8' });
  return (stderr + stdout).split('Compare paths by isBelow').length - 1;
}

test('comparing the beginnings of paths is an error, comparing those of words is not', (t) => {
  const paths = [
    'export const one = path.startsWith(`$' + '{directory}/`);',
    'export const two = path.startsWith(root + sep);',
    'export const three = real.startsWith(base.endsWith("/") ? base : other);',
    'export const four = (await realpath(path)).startsWith(projectsDirectory);',
  ];
  assert.equal(reports(t, paths), paths.length);
  assert.equal(reports(t, ["export const word = line.startsWith('set ') || name.startsWith(names[0]);"]), 0);
});
