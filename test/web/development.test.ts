// A server of those who change the page: open pages load themselves again, with what the sources are then.
import assert from 'node:assert/strict';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually, startDaemon } from '../system/daemon.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';

const project = join(import.meta.dirname, '../..');

test('pages load themselves again when a source of the page changes, and stay when it cannot be bundled', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const copy = await scratchDirectory(t);
  await Promise.all(
    ['src', 'bin', 'package.json'].map((name) => cp(join(project, name), join(copy, name), { recursive: true })),
  );
  await Promise.all(['node_modules', 'native'].map((name) => symlink(join(project, name), join(copy, name))));
  const daemon = await startDaemon(t, { program: [process.execPath, join(copy, 'bin/development.mjs')] });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${daemon.url}/help`, { credentials: null });
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  const words = join(copy, 'src/web/words.ts');
  const before = await readFile(words, 'utf8');
  const loads: number[] = [];
  page.on('load', () => loads.push(performance.now()));
  await writeFile(words, `${before}\nconst broken = ;`);
  await eventually(
    'the reason',
    () => daemon.log,
    (log) => log.includes('const broken = ;'),
  );
  assert.deepEqual(loads, []);
  await writeFile(words, before.replace("firstSteps: 'First steps'", "firstSteps: 'Steps anew'"));
  await page.getByRole('heading', { name: 'Steps anew' }).waitFor();
  assert.ok(loads.length > 0);
  assert.deepEqual(complaints, []);
});
