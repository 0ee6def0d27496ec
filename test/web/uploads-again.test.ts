// Scenario: the page is loaded anew while an image is being sent. It goes on when the same file is chosen again, and with no other.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { accessibilityFaultsInAll } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';
import { SlowWay } from './slow-way.ts';

const BYTES = 16 << 20;

test('an upload goes on after the page was reloaded, with the same file and with no other', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon } = await serve(t, { withPassword: false });
  const way = await SlowWay.to(t, daemon.port);
  const directory = await scratchDirectory(t);
  const place = async (name: string): Promise<string> => {
    await mkdir(join(directory, name));
    return join(directory, name, 'image.qcow2');
  };
  const content = randomBytes(BYTES);
  const [file, other, touched] = [await place('own'), await place('other'), await place('touched')];
  await writeFile(file, content);
  await writeFile(other, randomBytes(BYTES));
  await writeFile(touched, content);
  await utimes(touched, new Date(1e12), new Date(1e12));
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${way.port}/images`, { credentials: null });
  await page.getByText('There are no images here yet.').waitFor();
  way.rate = BYTES / 20;
  await page.locator('input[type=file]').setInputFiles(file);
  const uploads = () =>
    daemon.get('/v2/operations').then((list) => list.filter(({ kind }: { kind: string }) => kind === 'upload'));
  const [{ operation_id: id }] = await eventually('a part of it', uploads, ([upload]) => upload?.done > BYTES / 10);
  page.on('dialog', (dialog) => void dialog.accept().catch(() => {}));
  way.rate = Number.POSITIVE_INFINITY;
  // Only what is here already, so that it cannot be through before the page has gone.
  way.cut();
  way.mend();
  await page.reload();
  const button = page.getByRole('button', { name: '1 task', exact: true });
  await button.click();
  await page.getByText(/^the page was reloaded: choose the same file again/).waitFor();
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  const choose = async (path: string): Promise<void> => {
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Choose the file: Upload image.qcow2' }).click(),
    ]);
    await chooser.setFiles(path);
  };
  const before = (await uploads())[0].done;
  await choose(other);
  await page.getByText(/^image.qcow2 is not the file whose beginning was sent/).waitFor();
  await choose(touched);
  await page.getByText(/^image.qcow2 was changed since its beginning was sent/).waitFor();
  assert.equal((await uploads())[0].done, before, 'nothing of them was sent');
  await choose(file);
  await page.getByText(`done, MD5 ${createHash('md5').update(content).digest('hex')}`).waitFor();
  assert.equal((await daemon.get(`/v2/compute/qemu/uploads/${id}`)).filesize, BYTES, 'it is the same upload');
  // It is not offered again.
  await page.reload();
  await page.getByRole('cell', { name: 'image.qcow2' }).first().waitFor();
  assert.equal(await page.getByRole('button', { name: /task/ }).count(), 0);
  assert.deepEqual(
    complaints.filter((complaint) => !/ERR_|Failed to load resource/.test(complaint)),
    [],
  );
});

test('an upload of an earlier page can be cancelled, and one that the server has given up is forgotten', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon } = await serve(t, { withPassword: false });
  const way = await SlowWay.to(t, daemon.port);
  const file = join(await scratchDirectory(t), 'image.qcow2');
  await writeFile(file, randomBytes(BYTES));
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${way.port}/images`, { credentials: null });
  page.on('dialog', (dialog) => void dialog.accept().catch(() => {}));
  const uploads = () =>
    daemon
      .get('/v2/operations')
      .then((list) =>
        list.filter(({ kind, state }: { kind: string; state: string }) => kind === 'upload' && state === 'running'),
      );
  const begin = async (): Promise<void> => {
    way.rate = BYTES / 20;
    await page.locator('input[type=file]').setInputFiles(file);
    await eventually('a part of it', uploads, ([upload]) => upload?.done > 0);
    way.rate = Number.POSITIVE_INFINITY;
    way.cut();
    way.mend();
    await page.reload();
  };
  await begin();
  await page.getByRole('button', { name: '1 task', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel: Upload image.qcow2' }).click();
  await eventually('its end', uploads, (list) => list.length === 0);
  await page.reload();
  await begin();
  const [{ operation_id: id }] = await uploads();
  await daemon.delete(`/v2/compute/qemu/uploads/${id}`);
  await page.reload();
  await page.getByText('There are no images here yet.').waitFor();
  await eventually(
    'nothing kept',
    () => page.evaluate(() => localStorage.getItem('uploads')),
    (kept) => kept === '[]',
  );
});
