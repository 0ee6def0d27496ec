// Scenario: large images are brought to the server, over a way that is slow and breaks off, while one works elsewhere.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { accessibilityFaults, accessibilityFaultsInAll } from './accessibility.ts';
import { confirmIn, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { HEAP_GROWTH, heapOf, MIBIBYTE } from './heap.ts';
import { serve } from './served.ts';
import { SlowWay } from './slow-way.ts';

/** Of the large image; 2048 is what people have. */
const SIZE_MIB = Number(process.env['LABWIRE_IMAGE_MIB'] ?? 32);

/** A file of random bytes; answers its checksum. */
async function randomFile(path: string, mibibytes: number): Promise<string> {
  const checksum = createHash('md5');
  await using file = await open(path, 'w');
  for (let written = 0; written < mibibytes; written++) {
    const piece = randomBytes(MIBIBYTE);
    checksum.update(piece);
    await file.writeFile(piece);
  }
  return checksum.digest('hex');
}

/** Writes down what the bar of a task shows, each time that it changes. */
async function watchBar(page: Page, name: string): Promise<() => Promise<number[]>> {
  await page.evaluate((label) => {
    const seen: number[] = [];
    Object.assign(globalThis, { seen });
    setInterval(() => {
      const bar = document.querySelector<HTMLProgressElement>(`progress[aria-label="${label}"]`);
      if (bar && bar.position >= 0 && bar.position !== seen.at(-1)) seen.push(bar.position);
    }, 20);
  }, name);
  return () => page.evaluate(() => (globalThis as unknown as { seen: number[] }).seen);
}

test('a large image arrives whole over a slow way that is cut, and can be paused, while another lab is worked on', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon } = await serve(t);
  await daemon.post('/v2/projects', { name: 'Other lab', auto_close: false });
  const way = await SlowWay.to(t, daemon.port);
  const directory = await scratchDirectory(t);
  const file = join(directory, 'large.qcow2');
  const md5sum = await randomFile(file, SIZE_MIB);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${way.port}/images`);
  await page.getByText('There are no images here yet.').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const heapBefore = await heapOf(page);

  way.rate = (SIZE_MIB * MIBIBYTE) / 300;
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: '1 task', exact: true }).click();
  const bar = page.getByRole('progressbar', { name: 'Upload large.qcow2' });
  await bar.waitFor();
  const seen = await watchBar(page, 'Upload large.qcow2');
  const uploads = () =>
    daemon.get('/v2/operations').then((list) => list.filter(({ kind }: { kind: string }) => kind === 'upload'));
  const [{ operation_id: id }] = await eventually('the upload', uploads, (list) => list[0]?.done > 0);
  assert.deepEqual(await accessibilityFaultsInAll(page), []);

  // One goes on working elsewhere.
  await page.getByRole('link', { name: 'Labs' }).first().click();
  await page.getByRole('link', { name: 'Other lab' }).click();
  await page.getByText('This lab is empty.').waitFor();
  await page.getByRole('main', { name: 'Topology' }).press('n');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await page.getByRole('button', { name: '1 task', exact: true }).click();
  await page.getByRole('button', { name: 'Pause: Upload large.qcow2' }).click();
  await page.getByText(/^paused/).waitFor();
  const asked = page.waitForEvent('dialog');
  void page.close({ runBeforeUnload: true });
  const dialog = await asked;
  assert.equal(dialog.type(), 'beforeunload');
  await dialog.dismiss();
  way.rate = (SIZE_MIB * MIBIBYTE) / 6;
  await page.getByRole('button', { name: 'Resume: Upload large.qcow2' }).click();
  await eventually('more bytes', uploads, ([upload]) => upload.done > 0.3 * SIZE_MIB * MIBIBYTE);

  way.cut();
  await page.getByText(/^connection lost, trying again/).waitFor();
  way.mend();
  way.rate = Number.POSITIVE_INFINITY;
  await page.getByText(`done, MD5 ${md5sum}`).waitFor();
  const growth = (await heapOf(page)) - heapBefore;
  t.diagnostic(`heap of the page: ${(growth / MIBIBYTE).toFixed(1)} MiB more after ${SIZE_MIB} MiB`);
  assert.ok(growth < HEAP_GROWTH, `${growth} bytes`);
  const positions = await seen();
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  assert.ok(positions.length > 3, `${positions}`);
  const whole = await daemon.get(`/v2/compute/qemu/uploads/${id}`);
  assert.equal(whole.md5sum, md5sum);

  await page.getByRole('link', { name: 'Show: Upload large.qcow2' }).click();
  await page.getByRole('cell', { name: md5sum }).waitFor();
  await page.getByRole('button', { name: 'Delete large.qcow2' }).click();
  await confirmIn(page);
  await page.getByText('There are no images here yet.').waitFor();
  assert.deepEqual(await readdir(join(daemon.state, 'images', 'QEMU')), []);
  // What the browser itself says of the cut is no fault of the page.
  assert.deepEqual(
    complaints.filter((text) => !/ERR_(CONNECTION|EMPTY|NETWORK|SOCKET|INVALID_HTTP)|WebSocket connection/.test(text)),
    [],
  );
});

test('an upload that is cancelled, or for which the disk has no room, leaves nothing and says why', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const disk = await scratchFileSystem(t, '8m');
  if (disk === undefined) return;
  const { daemon } = await serve(t, { config: `[Server]\nimages_path = ${disk}` });
  const way = await SlowWay.to(t, daemon.port);
  const directory = await scratchDirectory(t);
  const [small, large] = [join(directory, 'small.qcow2'), join(directory, 'large.qcow2')];
  await Promise.all([randomFile(small, 4), randomFile(large, 16)]);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${way.port}/images`);
  const files = async (): Promise<string[]> => readdir(join(disk, 'QEMU')).catch(() => []);
  way.rate = MIBIBYTE;
  await page.locator('input[type=file]').setInputFiles(small);
  await page.getByRole('button', { name: '1 task', exact: true }).click();
  await eventually('a part of it', files, (names) => names.length > 0);
  await page.getByRole('button', { name: 'Cancel: Upload small.qcow2' }).click();
  way.rate = Number.POSITIVE_INFINITY;
  await page.getByText('cancelled, nothing is left of it').waitFor();
  await eventually('nothing', files, (names) => names.length === 0);

  await page.locator('input[type=file]').setInputFiles(large);
  await page.getByText(/filesize: 16777216 bytes are needed in .*, \d+ are free/).waitFor();
  await page.getByRole('button', { name: 'Try again: Upload large.qcow2' }).waitFor();
  assert.deepEqual(await files(), []);
  assert.deepEqual(await accessibilityFaults(page), []);
});
