// The runner behind bin/test, over small projects whose tests fail, hang and are skipped on purpose.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../store/scratch.ts';
import { type AllowedSkip, allowedSkips, isAllowed } from './allowed-skips.ts';
import { lanesOf } from './lanes.ts';
import { verdictOf } from './verdict.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const ROOT = join(import.meta.dirname, '../..');
const FAILS = `import { test } from 'node:test'; test('fails', () => { throw new Error('as always'); });`;
const PASSES = `import { test } from 'node:test'; test('passes', () => {});`;
const SKIPS = `
  import { describe, test } from 'node:test';
  describe('some', () => test('needs a thing', { skip: 'thing is not installed' }, () => {}));
  test('is left out', (t) => t.skip('for no reason'));`;
const SCRIPTS = { check: 'true', 'test:old-projects': 'true', 'test:conformance': 'true', 'test:firefox': 'true' };

const ENTRY = {
  tests: '^test/skips\\.test\\.ts: some > needs',
  reason: '\\w+ is not installed',
  for: 'both',
  why: 'w',
} as const;

/** Runs the runner in a project of these files of test/ and scripts. */
async function ran(
  t: TestContext,
  files: Record<string, string>,
  { scripts = {}, words = [] }: { scripts?: Record<string, string>; words?: string[] } = {},
) {
  const root = await scratchDirectory(t);
  const all = {
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`test/${name}`, text])),
    'package.json': JSON.stringify({ type: 'module', scripts: { ...SCRIPTS, ...scripts } }),
    'test/allowed-skips.json': JSON.stringify([ENTRY]),
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text, { mode: 0o755 });
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...words], {
    cwd: root,
    encoding: 'utf8',
    env,
  });
  return { status, lines: stdout.trimEnd().split('\n'), text: `${stdout}\n${stderr}` };
}

test('a failure is shown with its error, and a skip only if it is not on the list; nothing is tried twice', async (t) => {
  const { status, lines, text } = await ran(t, {
    'good.test.ts': PASSES,
    'bad.test.ts': FAILS,
    'skips.test.ts': SKIPS,
    'broken.test.ts': 'no program (',
  });
  assert.equal(status, 1);
  assert.equal(lines.at(-1), '1 passed, 3 failed, 1 skipped', text);
  assert.ok(lines.includes('test/skips.test.ts: is left out: skipped (for no reason)'), text);
  const end = text.slice(text.indexOf('==> failures'));
  assert.match(end, /^test\/bad\.test\.ts\nfails\n +Error: as always\n +at .*bad\.test\.ts/m);
  assert.match(end, /^test\/broken\.test\.ts\n.*\n[\s\S]*no program \(/m);
  const slowest = lines.slice(lines.indexOf('==> slowest files') + 1);
  const named = slowest.slice(0, slowest.indexOf('')).map((line) => /^ +0 min +\d+ s {2}(.+)$/.exec(line)?.[1]);
  assert.deepEqual(
    named.toSorted(),
    ['bad', 'broken', 'good', 'skips'].map((name) => `test/${name}.test.ts`),
    text,
  );
});

test('a script counts by its last line; one that fails without such a line is one failure, with what it said', async (t) => {
  const { status, lines, text } = await ran(
    t,
    { 'good.test.ts': PASSES },
    { scripts: { check: 'echo types are wrong; exit 2', 'test:old-projects': "echo '5 passed, 0 failed, 2 skipped'" } },
  );
  assert.equal(status, 1);
  assert.equal(lines.at(-1), '6 passed, 1 failed, 2 skipped', text);
  assert.match(text.slice(text.indexOf('==> failures')), /npm run check ended with exit code 2\ntypes are wrong\n/);
});

test('a test that hangs ends at the time limit, with its file, and a file that does not end is killed', async (t) => {
  const hangs = `
    import { test } from 'node:test';
    process.stderr.write('busy elsewhere');
    test('hangs', () => new Promise((end) => setTimeout(end, 99_000)));
    test('hangs as well', () => new Promise((end) => setTimeout(end, 99_000)));`;
  const lingers = `import { test } from 'node:test'; test('passes', () => void setInterval(() => {}, 1000));`;
  const words = ['--test-timeout', '5000', '--silence', '5000'];
  const { text } = await ran(t, { 'hangs.test.ts': hangs, 'lingers.test.ts': lingers }, { words });
  assert.match(text, /^hangs\n +test timed out after 5000ms\n +busy elsewhere$/m);
  assert.match(text, /^test\/hangs\.test\.ts\n +a test has timed out: the process was killed$/m);
  assert.doesNotMatch(text, /hangs as well/);
  assert.match(text, /^test\/lingers\.test\.ts\n +no event for 10 s: the process was killed$/m);
});

test('with --again a file that failed is run once more, and is named if it passes then', async (t) => {
  const unlucky = `
    import { existsSync, writeFileSync } from 'node:fs';
    import { test } from 'node:test';
    test('is unlucky', () => {
      if (existsSync('was-here')) return;
      writeFileSync('was-here', '');
      throw new TypeError('bad luck');
    });`;
  const files = { 'unlucky.test.ts': unlucky, 'bad.test.ts': FAILS };
  const { lines, text } = await ran(t, files, { words: ['--again'] });
  assert.equal(lines.at(-1), '1 passed, 1 failed, 0 skipped', text);
  assert.ok(lines.includes('passed only when run again alone: test/unlucky.test.ts'), text);
  assert.match(text.slice(text.indexOf('==> failures')), /as always/);
});

test('with --setup the first script runs beside bin/setup, all else after it, and nothing if it fails', async (t) => {
  const needs = `
    import assert from 'node:assert/strict';
    import { existsSync } from 'node:fs';
    import { test } from 'node:test';
    test('is built', () => assert.ok(existsSync('built')));`;
  const scripts = { check: 'touch checked', 'test:old-projects': 'test -e built' };
  const setUp = (script: string) =>
    ran(t, { 'needs.test.ts': needs, '../bin/setup': `#!/bin/sh\n${script}` }, { scripts, words: ['--setup'] });
  const built = await setUp('until [ -e checked ]; do sleep 0.1; done; sleep 1; touch built');
  assert.deepEqual([built.status, built.lines.at(-1)], [0, '1 passed, 0 failed, 0 skipped'], built.text);
  const failed = await setUp('echo no compiler; exit 3');
  assert.deepEqual(failed.lines.slice(-2), ['bin/setup failed', '0 passed, 1 failed, 0 skipped'], failed.text);
  assert.match(failed.text, /^no compiler$/m);
});

test('a suite without files, and one that does not exist, fail', async (t) => {
  const none = await ran(t, {}, { words: ['--suite', 'web'] });
  assert.equal(none.lines.at(-1), '0 passed, 1 failed, 0 skipped', none.text);
  const unknown = await ran(t, {}, { words: ['--suite', 'wbe'] });
  assert.deepEqual(
    [unknown.status, unknown.text.trim()],
    [2, '--suite: there is no suite "wbe". Suites: units, system, web, faults, firefox'],
  );
});

test('every test file is run by bin/test --all once, and by the usual run unless it is long', () => {
  const all = lanesOf(ROOT, 'all');
  const usual = lanesOf(ROOT, 'usual');
  const files = [...all.together, ...all.alone];
  assert.equal(new Set(files).size, files.length);
  const usualFiles = new Set([...usual.together, ...usual.alone]);
  const long = files.filter((file) => !usualFiles.has(file));
  assert.ok(long.length > 0 && long.length < files.length / 4, long.join());
  assert.deepEqual(
    [...usualFiles].filter((file) => !files.includes(file)),
    [],
  );
  const quick = lanesOf(ROOT, 'quick');
  assert.ok(quick.together.includes('test/system/lab.test.ts') && quick.alone.length === 0);
});

test('the processor time of a file is said with that of the programs it starts, also if they survive it', async (t) => {
  const works = `
    import { spawnSync } from 'node:child_process';
    import { existsSync } from 'node:fs';
    import { test } from 'node:test';
    import { setTimeout as sleep } from 'node:timers/promises';
    const WORK = 'while (process.cpuUsage().user < 7e5); require("fs").writeFileSync("worked", "");';
    test('starts', () => void spawnSync('sh', ['-c', 'exec setsid "$0" -e "$1" &', process.execPath, WORK]));
    test('waits', async () => {
      while (!existsSync('worked')) await sleep(100);
      await sleep(2000);
    });`;
  const group = `import ${JSON.stringify(join(ROOT, 'test/own-group.ts'))};`;
  const { lines, text } = await ran(t, { 'works.test.ts': works, 'own-group.ts': group });
  const [, elapsed, used] = /ok +test\/works\.test\.ts \(2 in (\S+) s(?:, processor (\S+) s)?\)/.exec(text) ?? [];
  if (used === undefined) return t.skip('control groups cannot be made here');
  assert.ok(Number(used) >= 0.7 && Number(used) < Number(elapsed), text);
  assert.match(lines[lines.indexOf('==> processor time of all files') + 1] ?? '', /^ +0 min +[1-5] s$/, text);
});

test('the ten slowest files are named, slowest first', () => {
  const files = Array.from({ length: 12 }, (_, n) => ({
    file: `${n}.test.ts`,
    milliseconds: n * 7000,
    processorMs: n === 11 ? 61_000 : undefined,
    passed: 1,
    failed: [],
    skipped: [],
  }));
  const { lines } = verdictOf({ files, commands: [], allowed: [], isRoot: true });
  assert.deepEqual(lines.slice(0, 3), [
    '==> slowest files',
    '  1 min 17 s, processor 1 min  1 s  11.test.ts',
    '  1 min 10 s  10.test.ts',
  ]);
  assert.deepEqual(lines.slice(10, 12), ['  0 min 14 s  2.test.ts', '']);
});

test('the list of skips is read by title, by the whole reason, and by who runs the tests', () => {
  const skip = { file: 'test/skips.test.ts', title: 'some > needs it', reason: 'x is not installed' };
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
