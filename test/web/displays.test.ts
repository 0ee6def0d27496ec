// Displays in the page: the picture of a real machine by VNC, and keys that reach it.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createWebSocketStream, WebSocket } from 'ws';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { bootSector, noQemu, SMALL, TYPEWRITER } from '../compute/qemu-support.ts';
import { lit as litOf, RfbClient, see } from '../compute/rfb-client.ts';
import { eventually } from '../system/daemon.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { CREDENTIALS, type Credentials } from './credentials.ts';
import { type Served, serve } from './served.ts';
import { OLGA, people } from './several.ts';

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

/** Waits for a picture with more than so many of them; an error says what the page tells of its connection. */
async function shows(page: Page, what: string, least: number): Promise<number> {
  const now = async () => ({ count: await lit(page), told: await page.locator('.notice').allInnerTexts() });
  const { count } = await eventually(what, now, (picture) => picture.count > least);
  return count;
}

/** Pixels of one large letter of the machine, at least; a cursor that blinks has fewer. */
const LETTER = 30;

/**
 * A machine whose first key clears the screen, and somebody who may only watch: the page shows the display and sends no keys, and what
 * another client sends by the same way gets nowhere. What would have come before the full stop of whoever may type would be on the screen with it.
 */
async function watched(
  browser: Browser,
  { daemon, address }: Served,
  { lab, node }: Record<'lab' | 'node', string>,
): Promise<void> {
  const { page } = await visit(browser, address, { credentials: OLGA });
  const sent: number[] = [];
  page.on('websocket', (socket) => {
    if (!socket.url().includes('/console/vnc')) return;
    socket.on('framesent', ({ payload }) => void (payload.length > 0 && sent.push(Number(payload[0]))));
  });
  await page.goto(`${address}labs/${lab}`);
  await page.getByRole('navigation').getByRole('button', { name: 'Machine on', exact: true }).click();
  await page.getByRole('main', { name: 'Topology' }).press('c');
  await page.getByText('You are watching: keys and the pointer go nowhere.').waitFor();
  await shows(page, 'the picture for who watches', 1000);
  await page.locator('.display canvas').click();
  await page.keyboard.type('WWWWWWWWWW');
  await page.locator('.opens-menu').click();
  assert.deepEqual(await page.getByRole('menu').locator('[role^=menuitem]').allInnerTexts(), ['Own window']);
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.ok(sent.includes(3), 'it asks for the picture');
  assert.ok(!sent.some((type) => [4, 5, 255].includes(type)), `no keys, no pointer: ${sent}`);
  await page.close();

  const open = (who: Credentials): Promise<RfbClient> => {
    const way = `${daemon.url.replace('http', 'ws')}/v2/projects/${lab}/nodes/${node}/console/vnc`;
    return RfbClient.over(createWebSocketStream(new WebSocket(way, { headers: { Authorization: basicHeader(who) } })));
  };
  const [watcher, typist] = [await open(OLGA), await open(CREDENTIALS)];
  const before = litOf(await watcher.picture());
  for (const letter of 'WWWWWWWWWW') watcher.press(letter);
  await watcher.picture();
  typist.press('.');
  const after = await see(typist, 'a full stop', (picture) => litOf(picture) !== before);
  assert.ok(litOf(after) < before + 2 * LETTER, `${litOf(after) - before} more pixels than before`);
  for (const letter of 'WWWWWWWWWW') typist.press(letter);
  await see(watcher, 'what whoever may type has typed', (picture) => litOf(picture) > before + 8 * LETTER);
  for (const each of [watcher, typist]) each.end();
}

test('the display of a machine shows its BIOS, accepts keys only from clients that may type, and comes again after a cut', {
  skip: WITHOUT_BROWSER || noQemu,
}, async (t) => {
  const served = await people(t);
  const { daemon, address } = served;
  const images = join(daemon.state, 'images', 'QEMU');
  await mkdir(images, { recursive: true });
  await bootSector(images, 'typewriter.img', ...TYPEWRITER);
  const { project_id } = await daemon.post('/v2/projects', { name: 'Displays', auto_close: false });
  const path = `/v2/projects/${project_id}`;
  assert.equal((await daemon.ask('PUT', `${path}/sharing`, { body: { everybody: 'watch' } })).status, 200);
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
  const bios = await shows(page, 'the words of the BIOS', 1500);
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
  assert.deepEqual(await accessibilityFaults(page), []);

  await watched(browser, served, { lab: project_id, node: node_id });

  // A machine that is off says so, and its display is there again with it. Its own BIOS clears nothing: few letters, many words.
  await page.locator('.opens-menu').click();
  await page.getByRole('menuitem', { name: 'Send Ctrl+Alt+Del' }).click();
  await daemon.post(`${path}/nodes/${node_id}/stop`, {});
  await page.getByText('Machine is off.').waitFor();
  await daemon.post(`${path}/nodes/${node_id}/start`, {});
  await page.getByText('Machine is off.').waitFor({ state: 'detached' });
  await shows(page, 'the words of the BIOS', 1500);
  // Another type of console says so, and another display brings it back.
  const change = async (console_type: string): Promise<void> => {
    await daemon.post(`${path}/nodes/${node_id}/stop`, {});
    assert.equal((await daemon.ask('PUT', `${path}/nodes/${node_id}`, { body: { console_type } })).status, 200);
  };
  await change('telnet');
  await page.getByText('Machine has no VNC display any more: its console has another type.').waitFor();
  await change('vnc');
  await page.getByText('Machine is off.').waitFor();
  await daemon.post(`${path}/nodes/${node_id}/start`, {});
  await shows(page, 'the words of the BIOS', 1500);
  // A server that is away says so, and so does one that comes back; the machine went on meanwhile.
  await daemon.end('SIGTERM');
  await page.getByText('Not connected, trying again').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await daemon.start();
  await page.getByText('Not connected, trying again').waitFor({ state: 'detached' });
  // The browser complains of openings that come while the machine stops or the server is away, of a question about addresses
  // before the page knows that the end of the server has closed the lab, and of this test's looking.
  const other = complaints.filter(
    (text) =>
      !/console\/vnc.* failed|status of 403 .*\/addresses$|willReadFrequently|ERR_CONNECTION_REFUSED/.test(text),
  );
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
  await page.getByText('Wrong password for this display.').waitFor();
  assert.equal(await lit(page), 0, 'nothing is shown without it');
  assert.deepEqual(await accessibilityFaults(page), []);
  await password.fill('s3cret');
  await password.press('Enter');
  await shows(page, 'the words of the BIOS', 500);
  await page.getByText('That was not the password').waitFor({ state: 'detached' });
});
