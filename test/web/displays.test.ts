// Displays in the page: the picture of a real machine by VNC, and keys that reach it.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { bootSector, noQemu, SMALL, TYPEWRITER } from '../compute/qemu-support.ts';
import { eventually } from '../system/daemon.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { hindrances } from './hindrances.ts';
import { serve } from './served.ts';

/** Pixels of the display that are not black. */
function lit(page: Page): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('.display canvas');
    const { data } = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width || 1, canvas.height || 1) ?? {
      data: [],
    };
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at]! + data[at + 1]! + data[at + 2]! > 0) count += 1;
    return count;
  });
}

test('the display of a machine shows its BIOS, takes keys, and comes again after a cut', {
  skip: WITHOUT_BROWSER || noQemu,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const images = join(daemon.state, 'images', 'QEMU');
  await mkdir(images, { recursive: true });
  await bootSector(images, 'typewriter.img', ...TYPEWRITER);
  const { project_id } = await daemon.post('/v2/projects', { name: 'Displays', auto_close: false });
  const path = `/v2/projects/${project_id}`;
  const { node_id } = await daemon.post(`${path}/nodes`, {
    ...{ name: 'Machine', node_type: 'qemu', compute_id: 'local', console_type: 'vnc' },
    properties: { ...SMALL, hda_disk_image: 'typewriter.img', hda_disk_interface: 'ide' },
  });
  await daemon.post(`${path}/nodes/${node_id}/start`, {});
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${address}labs/${project_id}`);
  await page.getByRole('navigation').getByRole('button', { name: 'Machine on', exact: true }).click();
  await page.getByRole('main', { name: 'Topology' }).press('c');
  await page.getByRole('img', { name: 'Display of Machine' }).waitFor();
  const bios = await eventually(
    'the words of the BIOS',
    () => lit(page),
    (count) => count > 1500,
  );
  await eventually('an empty screen after a key', async () => {
    await page.keyboard.press('w');
    return (await lit(page)) < bios / 2;
  });
  await eventually('letters', async () => {
    await page.keyboard.press('w');
    return (await lit(page)) > 1000;
  });
  const box = (await page.locator('.display canvas').boundingBox())!;
  const pane = (await page.locator('.display').boundingBox())!;
  assert.ok(box.height <= pane.height && box.width <= pane.width, 'it is scaled into its pane');
  assert.deepEqual(await hindrances(page), []);

  // A machine that is off says so, and its display is there again with it. Its own BIOS clears nothing: few letters, many words.
  await page.locator('.dock-menu summary').click();
  await page.getByRole('button', { name: 'Send Ctrl+Alt+Del' }).click();
  await daemon.post(`${path}/nodes/${node_id}/stop`, {});
  await page.getByText('Machine is off.').waitFor();
  await daemon.post(`${path}/nodes/${node_id}/start`, {});
  await page.getByText('Machine is off.').waitFor({ state: 'detached' });
  await eventually(
    'the words of the BIOS',
    () => lit(page),
    (count) => count > 1500,
  );
  // The browser complains of openings that come while the machine stops, and of this test's looking.
  const other = complaints.filter((text) => !/console\/vnc.* failed|willReadFrequently/.test(text));
  assert.deepEqual(other, []);
});

test('a display with a password asks for it, says that another one is wrong, and shows its picture', {
  skip: WITHOUT_BROWSER || noQemu,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const { project_id } = await daemon.post('/v2/projects', { name: 'Displays', auto_close: false });
  const path = `/v2/projects/${project_id}`;
  const { node_id } = await daemon.post(`${path}/nodes`, {
    ...{ name: 'Machine', node_type: 'qemu', compute_id: 'local', console_type: 'vnc' },
    properties: { ...SMALL, options: `${SMALL.options ?? ''} -object secret,id=console,data=s3cret` },
  });
  await daemon.post(`${path}/nodes/${node_id}/start`, {});
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `${address}labs/${project_id}`);
  await page.getByRole('navigation').getByRole('button', { name: 'Machine on', exact: true }).click();
  await page.getByRole('main', { name: 'Topology' }).press('c');
  const password = page.getByLabel('Password of the display');
  await password.fill('wrong');
  await password.press('Enter');
  await page.getByText('That was not the password of this display.').waitFor();
  assert.equal(await lit(page), 0, 'nothing is shown without it');
  assert.deepEqual(await hindrances(page), []);
  await password.fill('s3cret');
  await password.press('Enter');
  await eventually(
    'the words of the BIOS',
    () => lit(page),
    (count) => count > 500,
  );
  await page.getByText('That was not the password').waitFor({ state: 'detached' });
});
