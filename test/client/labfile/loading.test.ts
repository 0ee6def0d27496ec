// What reads YAML is loaded by the commands that read labs as text, and by no other: the server and its starts never pay for it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const WATCHED = `import { registerHooks } from 'node:module';
registerHooks({ resolve(wanted, context, next) {
  const found = next(wanted, context);
  if (/node_modules\\/yaml\\/|labfile\\/(read|schema|source|plan|export)\\b/.test(found.url)) process.stderr.write('loaded ' + found.url + '\\n');
  return found;
} });`;

test('the package yaml is loaded by commands on labs as text alone', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'labfile-'));
  t.after(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'lab.yaml'), 'name: Lab\n');
  const loads = (...words: string[]): boolean => {
    const program = join(import.meta.dirname, '../../../src/main.ts');
    const hook = `data:text/javascript,${encodeURIComponent(WATCHED)}`;
    const { stderr } = spawnSync(process.execPath, ['--import', hook, program, ...words], {
      cwd: directory,
      encoding: 'utf8',
    });
    return /^loaded /m.test(stderr);
  };
  assert.equal(loads('lab', 'check', 'lab.yaml'), true);
  for (const words of [
    ['version'],
    ['lab', 'list', '--server', 'http://127.0.0.1:9'],
    ['plan', '--help'],
    ['--help'],
  ]) {
    assert.equal(loads(...words), false, words.join(' '));
  }
});
