// Files from a file manager are dropped on the screens of labs and of images: drags of the browser itself, of files on the disk.
import assert from 'node:assert/strict';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { AccountsFile } from '../../src/store/accounts.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { CREDENTIALS } from './credentials.ts';
import { serveInside } from './served.ts';

const OBSERVER = { user: 'olga', password: 'password of olga' };

interface Dragged {
  files?: readonly string[];
  text?: string;
}

/** Without a place, drops on the lower part of the screen, where nothing is. */
async function drop(
  page: Page,
  { files = [], text }: Dragged,
  [x, y] = [640, 700],
  steps: readonly ('dragEnter' | 'dragOver' | 'drop')[] = ['dragEnter', 'dragOver', 'drop'],
): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const items = text === undefined ? [] : [{ mimeType: 'text/plain', data: text }];
  const data = { items, files: [...files], dragOperationsMask: 1 };
  for (const type of steps) await session.send('Input.dispatchDragEvent', { type, x: x!, y: y!, data });
  await session.detach();
}

test('archives that are dropped are imported, images uploaded; an observer reads why not, and a text goes into its field', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const olga = { name: OBSERVER.user, role: 'observer' as const, password: OBSERVER.password };
  await new AccountsFile(server.state).add([olga], [CREDENTIALS.user]);
  const files = await scratchDirectory(t);
  const [one, two, damaged, disk, router] = [
    'One.gns3project',
    'Two.gns3p',
    'Damaged.gns3project',
    'disk.qcow2',
    'router.image',
  ].map((name) => join(files, name)) as [string, string, string, string, string];
  const folder = join(files, 'images');
  const office = await server.project('Office', { auto_close: false });
  await server.hub(office, 'Hub');
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/`, { isAsked: true });
  const [archive] = await Promise.all([
    page.waitForEvent('download'),
    page.evaluate((id) => location.assign(`/v2/projects/${id}/export`), office.project_id),
  ]);
  await archive.saveAs(one);
  await copyFile(one, two);
  await writeFile(damaged, 'no archive at all');
  await writeFile(disk, 'QFI\xfb of a disk', 'latin1');
  // The first bytes of a program for a 32-bit big-endian processor.
  await writeFile(router, Buffer.from('7f454c46010201000000', 'hex'));

  await page.getByRole('link', { name: 'Office' }).waitFor();
  await drop(page, { files: [one, damaged, two] });
  for (const name of ['One', 'Two']) await page.getByRole('link', { name, exact: true }).waitFor();
  await page.getByRole('alert').filter({ hasText: 'Import: Damaged: ' }).waitFor();
  const field = page.getByLabel('Name of the new lab');
  const { x, y, width, height } = (await field.boundingBox())!;
  await drop(page, { text: 'Homework' }, [x + width / 2, y + height / 2]);
  assert.equal(await field.inputValue(), 'Homework');
  const labs = async (): Promise<string[]> =>
    (await server.expect(200, 'GET', '/v2/projects')).map(({ name }: { name: string }) => name).sort();
  assert.deepEqual(await labs(), ['Office', 'One', 'Two']);
  for (const { project_id } of await server.expect(200, 'GET', '/v2/projects')) {
    await server.expect(201, 'POST', `/v2/projects/${project_id}/open`);
    assert.equal((await server.expect(200, 'GET', `/v2/projects/${project_id}/nodes`))[0].name, 'Hub');
  }

  // Screens that take no files keep the page, and say where they go.
  await page.getByRole('link', { name: 'Hosts' }).first().click();
  await page.getByRole('heading', { name: 'Hosts' }).waitFor();
  await drop(page, { files: [two] }, undefined, ['dragEnter', 'dragOver']);
  const elsewhere = page.getByText('Drop labs on the Labs screen and images on the Images screen.');
  await elsewhere.waitFor();
  await drop(page, { files: [two] });
  await page.getByRole('status').and(elsewhere).waitFor();
  assert.ok(page.url().endsWith('/hosts'));
  await page.getByRole('link', { name: 'Labs' }).first().click();
  await page.getByRole('link', { name: 'Office' }).waitFor();
  await drop(page, { files: [two] }, undefined, ['dragEnter', 'dragOver']);
  await page.getByText('Drop .gns3project files here to import them.').waitFor();
  // The pointer has left the window.
  await page.getByText('Drop .gns3project files here to import them.').waitFor({ state: 'detached' });

  await page.goto(`http://127.0.0.1:${server.port}/images`);
  await page.getByText('There are no images here yet.').waitFor();
  await mkdir(folder);
  await drop(page, { files: [disk, folder, router] });
  await page.getByRole('region', { name: 'QEMU' }).getByRole('rowheader', { name: 'disk.qcow2' }).waitFor();
  await page.getByRole('region', { name: 'Dynamips' }).getByRole('rowheader', { name: 'router.image' }).waitFor();
  await page.getByRole('alert').getByText('images: not uploaded, because it is a folder').waitFor();

  for (const [path, dropped] of [
    ['', two],
    ['images', router],
  ] as const) {
    const seen = await visit(browser, `http://127.0.0.1:${server.port}/${path}`, { credentials: OBSERVER });
    const why = /^(You are an observer|Only admins)/;
    await seen.page.locator('p').filter({ hasText: why }).waitFor();
    const refused = seen.page.getByRole('alert').filter({ hasText: why });
    await drop(seen.page, { text: 'Homework' });
    assert.equal(await refused.count(), 0, 'of a text nothing is said');
    await drop(seen.page, { files: [dropped] });
    await refused.waitFor();
    assert.deepEqual(seen.complaints, []);
  }
  assert.equal((await labs()).length, 3);
  // What the browser writes down of the answer to the damaged archive.
  assert.deepEqual(
    complaints.filter((text) => !text.includes('409')),
    [],
  );
});
