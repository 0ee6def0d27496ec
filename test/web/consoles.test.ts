// Consoles in the page, as people who live in them use them: many, side by side, under load, cut off, without a secure context.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { cannotMakeInterfaces } from '../fabric/namespaces.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { CREDENTIALS } from './credentials.ts';
import { doubleClick } from './firefox.ts';
import { Room, type Served, serve } from './served.ts';

interface LabOnPage {
  /** Of the lab, below `/v2`. */
  path: string;
  /** Of the page. */
  place: string;
  nodes: string[];
}

async function startedPcs({ daemon, address }: Served, count: number): Promise<LabOnPage> {
  const { project_id } = await daemon.post('/v2/projects', { name: 'Consoles', auto_close: false });
  const path = `/v2/projects/${project_id}`;
  const nodes: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = {
      name: `PC${index + 1}`,
      node_type: 'vpcs',
      compute_id: 'local',
      x: (index % 5) * 120,
      y: Math.floor(index / 5) * 100,
    };
    nodes.push((await daemon.post(`${path}/nodes`, body)).node_id);
  }
  await daemon.post(`${path}/nodes/start`, {});
  return { path, place: `${address}labs/${project_id}`, nodes };
}

/** Opens a WebSocket and reads nothing of what it brings. */
async function stall(t: TestContext, { daemon }: Served, path: string): Promise<void> {
  const headers = { Authorization: basicHeader(CREDENTIALS) };
  const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}${path}`, { headers });
  t.after(() => socket.terminate());
  await once(socket, 'open');
  socket.pause();
}

async function openConsole(page: Page, name: string): Promise<void> {
  await page
    .getByRole('navigation')
    .getByRole('button', { name: `${name} on`, exact: true })
    .click();
  await page.getByRole('main', { name: 'Topology' }).press('c');
}

/** A PC says its name when it has one. */
const PROMPT = /^(VPCS|PC\d+)>/;

/** The output of the console that is worked in. */
const screen = (page: Page) => page.locator('.pane:not([hidden]) .console .xterm-rows');

async function act(page: Page, action: string): Promise<void> {
  await page.locator('.opens-menu').click();
  await page.getByRole('menu').getByText(action, { exact: true }).click();
}

/** All that the console has said, by way of its file. */
async function saved(page: Page): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), act(page, 'Save output')]);
  const pieces: Buffer[] = [];
  for await (const piece of await download.createReadStream()) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

test('where no secure context is: copy, paste, paste 200 lines slowly, find, save, split, send to all, 20 at once', {
  skip: WITHOUT_BROWSER || cannotMakeInterfaces,
}, async (t) => {
  const room = await Room.make(t);
  const served = await serve(t, { room });
  const { place, nodes } = await startedPcs(served, 20);
  const browser = await room.browser(t, await scratchDirectory(t));
  const { page, complaints } = await visit(browser, place);
  assert.equal(await page.evaluate(() => isSecureContext), false);

  await openConsole(page, 'PC1');
  // At once: neither is the terminal loaded nor the console connected.
  await page.keyboard.type('echo early-word\r');
  await screen(page).getByText('early-word', { exact: true }).last().waitFor();
  await screen(page).getByText(PROMPT).first().waitFor();
  await page.keyboard.type('echo first-word\r');
  const word = screen(page).getByText('first-word', { exact: true }).last();
  await word.waitFor();
  // A double click selects a word; with a selection Ctrl+C copies, without one it interrupts.
  const box = (await word.boundingBox())!;
  await doubleClick(page, box.x + 4, box.y + box.height / 2);
  await page.keyboard.press('Control+c');
  await page.keyboard.type('echo again-');
  await page.keyboard.press('Shift+Insert');
  await page.keyboard.press('Enter');
  await screen(page)
    .getByText(/^again-first/)
    .first()
    .waitFor();
  await page.keyboard.type('echo once-more-');
  await page.keyboard.press('Control+Shift+V');
  await page.keyboard.press('Enter');
  await screen(page)
    .getByText(/^once-more-first/)
    .first()
    .waitFor();
  await page.keyboard.type('echo thrown away');
  await page.keyboard.press('Control+c');
  await page.keyboard.type('echo kept\r');
  await screen(page).getByText('kept', { exact: true }).first().waitFor();

  await act(page, 'Paste');
  const lines = Array.from({ length: 200 }, (_, index) => `echo line-${index}`);
  await page.getByLabel('Text to paste').fill(`${lines.join('\n')}\n`);
  await page.getByRole('button', { name: 'Paste slowly' }).click();
  await page.getByText('Pasting line').waitFor();
  await page.getByText('Pasting line').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.matches('.xterm-helper-textarea'));
  await screen(page).getByText('line-199', { exact: true }).waitFor();
  const output = await saved(page);
  assert.deepEqual(
    output.match(/^line-\d+$/gm),
    lines.map((line) => line.slice(5)),
    'each line once, in order',
  );
  assert.doesNotMatch(output, /^thrown away$/m);

  await page.locator('.pane:not([hidden]) .xterm-helper-textarea').focus();
  await page.keyboard.press('Control+Alt+f');
  await page.getByLabel('Find in the output').fill('line-7');
  await page.keyboard.press('Enter');
  const found = await page.evaluate(() => document.querySelector('.xterm-selection div') !== null);
  assert.ok(found, 'what was found is marked');
  await page.getByLabel('Find in the output').fill('line-777');
  await page.keyboard.press('Enter');
  await page.getByText('not found').waitFor();
  await page.keyboard.press('Escape');
  await act(page, 'Clear');
  await eventually('an empty screen', async () => !(await screen(page).innerText()).includes('line-199'));

  await openConsole(page, 'PC2');
  await screen(page).getByText(PROMPT).first().waitFor();
  await page.getByRole('button', { name: 'Split' }).click();
  await page.locator('.pane:not([hidden])').nth(1).waitFor();
  await page.getByRole('button', { name: 'Send to all' }).click();
  await page.locator('.pane.active .xterm-helper-textarea').focus();
  await page.keyboard.type('echo everybody\r');
  for (const index of [0, 1])
    await page.locator('.pane:not([hidden])').nth(index).getByText('everybody', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Send to all' }).click();
  assert.deepEqual(await accessibilityFaults(page), []);

  // The dock is made higher by keys; the terminals take the room, and F6 leads out of them.
  const rows = () => page.locator('.pane.active .xterm-rows > div').count();
  const before = await rows();
  await page.getByRole('separator', { name: 'Height of the consoles' }).press('Home');
  await eventually('more rows', async () => (await rows()) > before);
  await page.getByRole('button', { name: 'One column' }).click();

  for (let index = 2; index < 20; index += 1) await openConsole(page, `PC${index + 1}`);
  await screen(page).getByText(PROMPT).first().waitFor();
  assert.equal(await page.locator('.tab').count(), 20);
  await page.keyboard.type('echo the last of twenty\r');
  await screen(page).getByText('the last of twenty', { exact: true }).first().waitFor();
  await page.keyboard.press('F6');
  assert.equal(await page.evaluate(() => document.activeElement?.closest('.dock')), null);

  const alone = await page.context().newPage();
  await alone.goto(`${place}/nodes/${nodes[0]}/console`);
  await screen(alone).getByText('everybody', { exact: true }).first().waitFor();
  assert.deepEqual(complaints, []);
});

test('10 MB of output: the page answers, Ctrl+C stops it, others go on; after a cut the console is there again', {
  skip: WITHOUT_BROWSER || missing('vpcs'),
}, async (t) => {
  const served = await serve(t, { config: 'engine = vpcs\n[Server]\nnodes_on_stop = keep' });
  const { place, path, nodes } = await startedPcs(served, 2);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, place);
  await openConsole(page, 'PC2');
  await screen(page).getByText(PROMPT).first().waitFor();
  await openConsole(page, 'PC1');
  await screen(page).getByText(PROMPT).first().waitFor();

  // Somebody who has opened the same console and reads nothing of it hinders nobody.
  await stall(t, served, `${path}/nodes/${nodes[0]}/console/ws`);
  await page.keyboard.type('! echo before-all; head -c 7500000 /dev/urandom | base64; echo after-$((1+1)) all\r');
  await screen(page)
    .getByText(/^[A-Za-z0-9+/]{76}/)
    .first()
    .waitFor();
  // In the middle of it a click on the map selects, and another console answers.
  const clicked = await page.evaluate(async () => {
    const started = performance.now();
    document.querySelector<HTMLElement>('nav [role=listitem] button')!.click();
    await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - started;
  });
  t.diagnostic(`a click during the output: ${Math.round(clicked)} ms`);
  await page.getByRole('button', { name: 'PC2', exact: true }).first().click();
  await page.locator('.pane:not([hidden]) .xterm-helper-textarea').focus();
  await page.keyboard.type('echo meanwhile\r');
  await screen(page).getByText('meanwhile', { exact: true }).first().waitFor();
  await page.locator('.tab').getByRole('button', { name: 'PC1', exact: true }).click();
  await screen(page)
    .getByText(/after-2 all/)
    .waitFor();
  assert.ok((await saved(page)).includes('after-2 all'));
  await page.locator('.pane:not([hidden]) .xterm-helper-textarea').focus();

  // Output without an end, faster than a browser can read, is stopped in its midst.
  await page.keyboard.type('! yes endless\r');
  await screen(page).getByText('endless', { exact: true }).nth(3).waitFor();
  await page.keyboard.press('Control+c');
  await page.keyboard.type('! echo in time\r');
  await screen(page).getByText('in time', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);

  await served.daemon.end('SIGKILL');
  await page.locator('.pane:not([hidden])').getByText('Not connected, trying again').waitFor();
  await served.daemon.start();
  await page.locator('.pane:not([hidden])').getByText('Not connected, trying again').waitFor({ state: 'hidden' });
  await screen(page).getByText('in time', { exact: true }).waitFor();
  await page.locator('.pane:not([hidden]) .xterm-helper-textarea').focus();
  // What is typed before the program is taken back is lost.
  await eventually('an answer', async () => {
    await page.keyboard.type('! echo still here\r');
    return await screen(page)
      .getByText('still here', { exact: true })
      .first()
      .waitFor({ timeout: 5_000 })
      .then(
        () => true,
        () => false,
      );
  });
});
