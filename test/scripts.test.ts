// The shell scripts that people run first.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const noShellcheck = spawnSync('shellcheck', ['--version']).status === 0 ? false : 'shellcheck is not installed';

test('shellcheck finds no mistakes in the scripts', { skip: noShellcheck }, () => {
  const scripts = ['bin/setup', 'bin/demo', 'bin/test', 'bin/install', 'bin/bundle-install', 'bin/node', '.ci/run'];
  const { status, stdout } = spawnSync('shellcheck', scripts, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

for (const script of ['setup', 'demo', 'install']) {
  test(`bin/${script} refuses a word that it does not know, and does nothing`, () => {
    const { status, stderr } = spawnSync(join(root, 'bin', script), ['--nonsense'], { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`bin/${script}: '--nonsense' is not known`));
  });
}
