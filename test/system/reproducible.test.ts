// Whoever doubts an executable can build it again and compare.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { executable } from './executable.ts';

const root = join(import.meta.dirname, '../..');

test('a build in another directory gives the same bytes', (t) => {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const other = mkdtempSync(join(root, 'dist/another-directory-'));
  t.after(() => rmSync(other, { recursive: true }));
  const parts = [
    'src',
    'docs',
    'README.md',
    'bin',
    'addons',
    'build.mjs',
    'package.json',
    'package-lock.json',
    'LICENSE',
    'node_modules',
    'native',
  ];
  // Links to the same files, since node_modules is large; not to the directories, which would lead back to this one.
  const copied = spawnSync('cp', ['-al', ...parts, other], { cwd: root, encoding: 'utf8' });
  assert.equal(copied.status, 0, copied.stderr);
  const again = join(other, 'out');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['build.mjs', '--out', again], {
    cwd: other,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
  const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  assert.equal(hash(again), hash(executable()[0]!));
});
