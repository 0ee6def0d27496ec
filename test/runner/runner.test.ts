// The runner behind bin/test, over small projects whose tests fail, hang and are skipped on purpose.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../store/scratch.ts';
import { type AllowedSkip, allowedSkips, isAllowed } from './allowed-skips.ts';
import type { ScriptResult } from './scripts.ts';
import { runTestFiles } from './test-files.ts';
import { brokenOf, verdictOf } from './verdict.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const FAILS = `import { test } from 'node:test'; test('fails', () => { throw new Error('as always'); });`;
/** Passes from its second run on. */
const UNLUCKY = `
  import { existsSync, writeFileSync } from 'node:fs';
  import { test } from 'node:test';
  test('is unlucky', () => {
    if (existsSync('was-here')) return;
    writeFileSync('was-here', '');
    throw new TypeError('bad luck');
  });
  test('is well', () => {});`;
const SKIPS = `
  import { describe, test } from 'node:test';
  describe('some', () => test('needs a thing', { skip: 'thing is not installed' }, () => {}));
  test('is left out', (t) => t.skip('nobody knows why'));`;

const ENTRY = {
  tests: '^skips\\.test\\.ts: some > needs',
  reason: '\\w+ is not installed',
  for: 'both',
  why: 'w',
} as const;

async function project(t: TestContext, files: Record<string, string>): Promise<string> {
  const root = await scratchDirectory(t);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return root;
}

/** Runs the runner in a project of these files and scripts. */
async function ran(t: TestContext, scripts: Record<string, string>, files: Record<string, string> = {}) {
  const root = await project(t, {
    ...files,
    'package.json': JSON.stringify({ type: 'module', scripts }),
    'test/allowed-skips.json': JSON.stringify([ENTRY]),
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], { cwd: root, encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n'), text: `${stdout}\n${stderr}` };
}

test('what fails is tried again: a file may pass then and is named; one that fails twice is told with its error', async (t) => {
  const files = { 'unlucky.test.ts': UNLUCKY, 'bad.test.ts': FAILS, 'skips.test.ts': SKIPS };
  const { status, lines, text } = await ran(t, { test: "bin/node --test --test-timeout=60000 '*.test.ts'" }, files);
  assert.equal(status, 1);
  assert.equal(lines.at(-1), '2 passed, 2 failed, 1 skipped', text);
  const named = 'passed only when run again alone: unlucky.test.ts (first error: TypeError: bad luck)';
  assert.ok(lines.includes(named), text);
  assert.ok(lines.includes('skips.test.ts: is left out: skipped (nobody knows why)'), text);
  assert.ok(
    lines.some((line) => /^ +\d+ min +\d+ s {2}npm run test$/.test(line)),
    text,
  );
  const slowest = lines.slice(lines.indexOf('==> slowest files') + 1);
  const timed = slowest.slice(0, slowest.indexOf('')).map((line) => /^ +0 min +\d+ s {2}(.+)$/.exec(line)?.[1]);
  assert.deepEqual(timed.toSorted(), ['bad.test.ts', 'skips.test.ts', 'unlucky.test.ts'], text);
  const end = text.slice(text.indexOf('==> failures'));
  assert.match(end, /bad\.test\.ts \(npm run test\)\nfails\n +Error: as always\n +at .*bad\.test\.ts/);
  assert.match(end, /\nfailed: npm run test\n/);
  assert.doesNotMatch(end, /unlucky/);
});

test('scripts of another kind count by their last line, and one that only fails counts as one', async (t) => {
  const scripts = {
    check: 'echo types are wrong; exit 2',
    'test:old-projects': "echo '5 passed, 0 failed, 2 skipped'",
  };
  const { status, lines, text } = await ran(t, scripts);
  assert.equal(status, 1);
  assert.equal(lines.at(-1), '5 passed, 1 failed, 2 skipped', text);
  assert.match(text.slice(text.indexOf('==> failures')), /npm run check ended with exit code 2\ntypes are wrong\n/);
});

test('a test that hangs ends by its time-out, and a file that does not come to its end is ended', async (t) => {
  const hangs = `import { test } from 'node:test'; test('hangs', () => new Promise((end) => setTimeout(end, 4000)));`;
  const lingers = `import { test } from 'node:test'; test('passes', () => void setInterval(() => {}, 1000));`;
  const root = await project(t, { 'hangs.test.ts': hangs, 'lingers.test.ts': lingers });
  const run = (file: string, quiet: number) =>
    runTestFiles({ root, words: ['--test-timeout=1000', file], log: join(root, `${file}.log`), quiet, isShown: false });
  const [hung, left] = await Promise.all([run('hangs.test.ts', Infinity), run('lingers.test.ts', 4000)]);
  assert.deepEqual([hung.code, left.code], [1, 1]);
  assert.deepEqual(hung.results[0]?.failed, [{ title: 'hangs', error: 'test timed out after 1000ms' }]);
  assert.equal(left.results[0]?.failed[0]?.error, 'nothing was heard of it for 4 s: it was ended');
});

/** The verdict on one script, nothing of which was tried again unless it is said. */
function judged(result: Partial<ScriptResult>, again: string[] = []) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const whole = { script: 'test', milliseconds: 0, code: 1, isOfTests: false, files: [], counts, lines: [], ...result };
  const broken = brokenOf(whole);
  const tried = broken.filter(({ name }) => again.includes(name)).map((one) => ({ broken: one, passed: true }));
  const { lines, ...sum } = verdictOf({ results: [whole], again: tried, allowed: [], isRoot: true });
  return { names: broken.map(({ name }) => name), sum: Object.values(sum), text: lines.join('\n') };
}

test('a scenario that passes when it is played again counts as passed; a wrong list of scenarios stays a failure', () => {
  const lines = ['ok     link/early', 'FAILED link/late', '       step 3: no answer', ''];
  const counts = { passed: 1, failed: 1, skipped: 0 };
  const one = judged({ lines, counts }, ['link/late']);
  assert.deepEqual(one.sum, [2, 0, 0]);
  assert.match(one.text, /passed only when run again alone: link\/late \(first error: step 3: no answer\)/);
  assert.deepEqual(judged({ lines, counts }).sum, [1, 1, 0]);

  const wrong = judged(
    { lines: [...lines, 'FAILED link/none: there is no such scenario'], counts: { ...counts, failed: 2 } },
    ['link/late'],
  );
  assert.deepEqual(wrong.names, ['link/late']);
  assert.deepEqual(wrong.sum, [2, 1, 0]);
});

test('the ten slowest files of all are named, slowest first', () => {
  const files = Array.from({ length: 12 }, (_, n) => ({
    ...{ file: `${n}.test.ts`, milliseconds: n * 7000, passed: 1, failed: [], skipped: [] },
  }));
  const { text } = judged({ isOfTests: true, code: 0, files });
  const lines = text.slice(text.indexOf('==> slowest files')).split('\n').slice(1);
  assert.deepEqual(lines.slice(0, 2), ['  1 min 17 s  11.test.ts', '  1 min 10 s  10.test.ts']);
  assert.deepEqual([lines[9], lines[10]], ['  0 min 14 s  2.test.ts', '']);
});

test('a script of tests that runs none has failed', () => {
  const { sum, text } = judged({ isOfTests: true, code: 0 });
  assert.deepEqual(sum, [0, 1, 0]);
  assert.match(text, /npm run test has run no test/);
});

test('the list of skips is read by title, by the whole reason, and by who runs the tests', () => {
  const skip = { file: 'skips.test.ts', title: 'some > needs it', reason: 'x is not installed' };
  const allows = (change: Partial<AllowedSkip>, isRoot = true) => isAllowed(skip, [{ ...ENTRY, ...change }], isRoot);
  assert.equal(allows({}), true);
  assert.equal(allows({ for: 'root' }), true);
  assert.equal(allows({ for: 'root' }, false), false);
  assert.equal(allows({ for: 'user' }, false), true);
  assert.equal(allows({ tests: 'other' }), false);
  assert.equal(allows({ reason: 'x is not' }), false);
  assert.equal(isAllowed({ ...skip, reason: '' }, [ENTRY], true), false);
});

test('the list of this project can be read', () => {
  assert.ok(allowedSkips(join(import.meta.dirname, '../allowed-skips.json')).length > 0);
});
