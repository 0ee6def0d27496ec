// Scenario: snapshots, copies and archives of a lab with large files, with what can go wrong told where it is asked for.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Daemon, eventually } from '../system/daemon.ts';
import { accessibilityFaults, accessibilityFaultsInAll } from './accessibility.ts';
import { chooseFromMore, PATIENCE_MS, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { HEAP_GROWTH, heapOf, MIBIBYTE } from './heap.ts';
import { serve } from './served.ts';
import { SlowWay } from './slow-way.ts';

/** Of the large file in the lab; 1024 is what people have. */
const SIZE_MIB = Number(process.env['LABWIRE_ARCHIVE_MIB'] ?? 32);
/** For a step that moves all of it. */
const LONG_MS = PATIENCE_MS + SIZE_MIB * 200;

interface Content {
  nodes: string[];
  links: number;
}

async function contentOf(daemon: Daemon, id: string): Promise<Content> {
  const nodes: Body[] = await daemon.get(`/v2/projects/${id}/nodes`);
  const links: Body[] = await daemon.get(`/v2/projects/${id}/links`);
  return { nodes: nodes.map(({ name, x, y }) => `${name} ${x} ${y}`).sort(), links: links.length };
}

/** A lab of two hubs, joined, a virtual PC, and a large file. */
async function largeLab(daemon: Daemon): Promise<{ id: string; disk: string; pc: string }> {
  const { project_id: id, path } = await daemon.post('/v2/projects', { name: 'Office', auto_close: false });
  const url = `/v2/projects/${id}`;
  const made = [];
  for (const [name, node_type] of [
    ['Hub1', 'ethernet_hub'],
    ['Hub2', 'ethernet_hub'],
    ['PC1', 'vpcs'],
  ]) {
    made.push(await daemon.post(`${url}/nodes`, { name, node_type, compute_id: 'local', x: made.length * 100, y: 0 }));
  }
  const nodes = made.slice(0, 2).map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  await daemon.post(`${url}/links`, { nodes });
  const folder = join(path, 'project-files', 'large');
  await mkdir(folder, { recursive: true });
  const disk = join(folder, 'disk.img');
  await using file = await open(disk, 'w');
  // Mostly holes, which take no room on the disk; archives have them in full.
  await file.truncate(SIZE_MIB * MIBIBYTE);
  for (let at = 0; at < SIZE_MIB; at += 1) await file.write(`${at}`, at * MIBIBYTE);
  return { id, disk, pc: made[2].node_id };
}

async function checksumOf(path: string): Promise<string> {
  const checksum = createHash('md5');
  for await (const piece of createReadStream(path)) checksum.update(piece as Buffer);
  return checksum.digest('hex');
}

function assertLittleMore(t: TestContext, what: string, bytes: number): void {
  t.diagnostic(`heap of the page: ${(bytes / MIBIBYTE).toFixed(1)} MiB more after ${what} of ${SIZE_MIB} MiB`);
  assert.ok(bytes < HEAP_GROWTH, `${bytes} bytes more after ${what}`);
}

test('a snapshot is made, restored and deleted in the page, and a name that is taken is reported beside it', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const { id, disk } = await largeLab(daemon);
  const [before, checksum] = [await contentOf(daemon, id), await checksumOf(disk)];
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${address}labs/${id}`);
  page.setDefaultTimeout(LONG_MS);
  await page.getByRole('button', { name: 'Snapshots' }).click();
  const window = page.getByRole('dialog', { name: 'Snapshots of Office' });
  await window.getByText('There is no snapshot yet.').waitFor();
  const make = async (): Promise<void> => {
    await window.getByLabel('Name of the snapshot').fill('before');
    await window.getByRole('button', { name: 'Make a snapshot' }).click();
  };
  await make();
  await window.getByRole('rowheader', { name: 'before' }).waitFor();
  const offered = window.getByLabel('Name of the snapshot');
  await eventually(
    'a name for the next one',
    () => offered.inputValue(),
    (name) => name === 'Snapshot 1',
  );
  await make();
  await window.getByText('there is already a snapshot "before"').waitFor();
  assert.deepEqual(await accessibilityFaultsInAll(page), []);

  await daemon.post(`/v2/projects/${id}/nodes`, { name: 'Late', node_type: 'ethernet_hub', compute_id: 'local' });
  await writeFile(disk, 'overwritten');
  await window.getByRole('button', { name: 'Restore before', exact: true }).click();
  assert.equal((await contentOf(daemon, id)).nodes.length, 4);
  await window.getByRole('button', { name: 'Restore', exact: true }).click();
  await eventually(
    'the lab of then',
    () => contentOf(daemon, id),
    ({ nodes }) => nodes.length === 3,
    LONG_MS,
  );
  assert.deepEqual(await contentOf(daemon, id), before);
  assert.equal(await checksumOf(disk), checksum);
  for (const name of ['Before before', 'before']) {
    await window.getByRole('button', { name: `Delete ${name}`, exact: true }).click();
    await window.getByRole('button', { name: 'Delete', exact: true }).click();
    await window.getByRole('rowheader', { name, exact: true }).waitFor({ state: 'detached' });
  }
  await window.getByText('There is no snapshot yet.').waitFor();
  await window.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('navigation').getByRole('button', { name: 'Hub1 on' }).waitFor();
  // The answer of 409 above, which the browser writes down, too.
  assert.deepEqual(
    complaints.filter((text) => !text.includes('409')),
    [],
  );
});

test('a lab is copied, exported and imported with progress; a running node, a damaged archive and a cancel are reported', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon } = await serve(t);
  const { id, disk, pc } = await largeLab(daemon);
  const before = await contentOf(daemon, id);
  const way = await SlowWay.to(t, daemon.port);
  const directory = await scratchDirectory(t);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${way.port}/`);
  page.setDefaultTimeout(LONG_MS);
  const office = page.getByRole('row').filter({ hasText: /^Office/ });
  await office.waitFor();
  const heapBefore = await heapOf(page);

  // What runs hinders the archive: said in the window that asked for it.
  await daemon.post(`/v2/projects/${id}/nodes/${pc}/start`);
  await chooseFromMore(office, 'Export');
  const window = page.getByRole('dialog', { name: 'Export Office' });
  await window.getByLabel('Compression').selectOption('none');
  await window.getByRole('button', { name: 'Download' }).click();
  await window.getByText('The node "PC1" is running').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await daemon.post(`/v2/projects/${id}/nodes/${pc}/stop`);

  // Downloads get the password only where the browser was asked for it.
  const asked = await visit(browser, `http://127.0.0.1:${way.port}/`, { isAsked: true });
  await chooseFromMore(asked.page.getByRole('row').filter({ hasText: /^Office/ }), 'Export');
  await asked.page.getByRole('dialog').getByLabel('Compression').selectOption('none');
  const exporterBefore = await heapOf(asked.page);
  const [download] = await Promise.all([
    asked.page.waitForEvent('download'),
    asked.page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'Office.gns3project');
  const archive = join(directory, 'Office.gns3project');
  await download.saveAs(archive);
  assert.ok((await stat(archive)).size > SIZE_MIB * MIBIBYTE);
  assertLittleMore(t, 'the download', (await heapOf(asked.page)) - exporterBefore);
  await asked.page.close();
  await window.getByRole('button', { name: 'Cancel' }).click();

  // The copy: closed, and with the same content.
  await office.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Second office');
  await page.getByRole('dialog').getByRole('button', { name: 'Duplicate' }).click();
  await page.getByRole('link', { name: 'Second office' }).waitFor();

  // The archive again, over a slow way.
  const importer = page.locator('input[type=file]');
  way.rate = (SIZE_MIB * MIBIBYTE) / 30;
  await importer.setInputFiles(archive);
  const tasks = page.getByRole('button', { name: /^\d? ?tasks?/i });
  await tasks.click();
  const bar = page.getByRole('progressbar', { name: 'Import Office' });
  await bar.waitFor();
  await eventually(
    'progress',
    () => bar.evaluate((element: HTMLProgressElement) => element.position),
    (at) => at > 0.05,
  );
  await page
    .getByText(/iB of .* [MG]iB, .*iB\/s/)
    .first()
    .waitFor();
  way.rate = Number.POSITIVE_INFINITY;
  const other = 'The name "Office" is taken: "Office-1" was chosen instead.';
  await page.getByRole('status').filter({ hasText: other }).waitFor();
  await page.getByRole('listitem').filter({ hasText: other }).waitFor();
  await page.getByRole('link', { name: 'Show: Import Office' }).click();
  const imported = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  assert.notEqual(imported, id);
  await page.getByText('This lab is closed.').first().waitFor();
  await page.getByRole('link', { name: 'Labs' }).first().click();

  await daemon.post(`/v2/projects/${imported}/open`);
  assert.deepEqual(await contentOf(daemon, imported), before);
  const { path } = await daemon.get(`/v2/projects/${imported}`);
  assert.equal(await checksumOf(join(path, 'project-files', 'large', 'disk.img')), await checksumOf(disk));
  assertLittleMore(t, 'the upload', (await heapOf(page)) - heapBefore);

  // One that is cancelled leaves nothing.
  const labs: Body[] = await daemon.get('/v2/projects');
  way.rate = MIBIBYTE;
  await importer.setInputFiles(archive);
  await tasks.click();
  await page.getByRole('button', { name: 'Cancel: Import Office' }).click();
  way.rate = Number.POSITIVE_INFINITY;
  await page.getByText('cancelled, nothing is left of it').first().waitFor();
  assert.equal((await daemon.get('/v2/projects')).length, labs.length);

  const damaged = join(directory, 'Damaged.gns3project');
  await writeFile(damaged, 'no archive at all');
  await importer.setInputFiles(damaged);
  await page
    .getByRole('alert')
    .getByText(/Import: Damaged: /)
    .waitFor();
  assert.equal((await daemon.get('/v2/projects')).length, labs.length);

  // A lab whose answer is lost is there, and nobody is asked to import it again.
  const lost = join(directory, 'Lost.gns3project');
  await copyFile(archive, lost);
  way.rateBack = 1;
  await importer.setInputFiles(lost);
  await eventually(
    'the lab',
    () => daemon.get('/v2/projects'),
    ({ length }) => length > labs.length,
    LONG_MS,
  );
  way.cut();
  way.rateBack = Number.POSITIVE_INFINITY;
  way.mend();
  await page.getByRole('link', { name: 'Lost', exact: true }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Import Lost' }).getByText('done').first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Retry: Import Lost' }).count(), 0);
  assert.deepEqual(await accessibilityFaults(page), []);
});
