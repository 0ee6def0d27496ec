// Five tasks, counted in presses of a real pointer and of real keys: by the shortest way before, and by that of today.
// `npm run hands` writes the figures into docs/page.md.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { AccountsFile } from '../../src/store/accounts.ts';
import '../cheap-passwords.ts';
import { bootSector, noQemu } from '../compute/qemu-support.ts';
import { LabServer, until } from '../controller/lab-server.ts';
import { withPart } from '../written.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { doubleClick } from './firefox.ts';
import { serveInside } from './served.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/page.md');
const COMMAND = 'npm run hands';

interface Figure {
  task: string;
  before: number;
  now: number;
  way: string;
}

const figures: Figure[] = [];

function note(figure: Figure): void {
  figures.push(figure);
  const { task, before, now } = figure;
  assert.ok(now <= (before * 2) / 3, `${task}: ${now} presses, before ${before}`);
}

/** Counts what a hand does from now on; gives the number so far. */
async function counting(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const state = { presses: 0 };
    Object.assign(globalThis, { hands: state });
    for (const kind of ['pointerdown', 'keydown'])
      addEventListener(kind, ({ isTrusted }) => (state.presses += Number(isTrusted)), { capture: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { hands: { presses: number } }).hands.presses);
}

async function open(t: TestContext, server: LabServer, path = '/', credentials?: null): Promise<Page> {
  const browser = await startBrowser(t);
  const { page } = await visit(
    browser,
    `http://127.0.0.1:${server.port}${path}`,
    credentials === null ? { credentials } : {},
  );
  await page.locator('.live[data-connection="live"]').waitFor();
  return page;
}

const typed = (page: Page, text: string) => page.keyboard.type(text);
const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
const node = (page: Page, name: string) =>
  page.locator('.node', { has: page.locator('.name', { hasText: new RegExp(`^${name}$`) }) });
const screen = (page: Page) => page.locator('.console:not([hidden]) .xterm-rows');

/** Opens the templates, adds two PCs, and links them by dragging with Ctrl, which takes the first free ports. */
async function twoPCs(page: Page, find: string): Promise<void> {
  await page.getByText('This lab is empty').first().waitFor();
  await press(page, 'n');
  await page.locator('.palette .templates img').first().waitFor();
  await typed(page, find);
  for (const count of [1, 2]) {
    await press(page, 'Enter');
    await node(page, `PC${count}`).waitFor();
  }
  await press(page, 'Escape');
  const [one, other] = [
    await node(page, 'PC1').locator('image').boundingBox(),
    await node(page, 'PC2').locator('image').boundingBox(),
  ];
  const middle = (box: typeof one) => [box!.x + box!.width / 2, box!.y + box!.height / 2] as const;
  await page.mouse.move(...middle(one));
  await page.locator('.port-handle').waitFor();
  const dot = await page.locator('.port-handle').boundingBox();
  await page.mouse.move(...middle(dot));
  await page.mouse.down();
  await page.mouse.move(...middle(other), { steps: 5 });
  await page.keyboard.down('Control');
  await page.mouse.up();
  await page.keyboard.up('Control');
  await page.locator('.link').waitFor({ state: 'attached' });
}

async function started(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start all' }).click();
  await page.locator('.node[data-status="started"]').nth(1).waitFor();
}

async function openConsole(page: Page, name: string): Promise<void> {
  const box = (await node(page, name).locator('image').boundingBox())!;
  await doubleClick(page, box.x + box.width / 2, box.y + box.height / 2);
  await screen(page).getByText(`${name}>`).first().waitFor();
}

test('two PCs are linked and ping each other', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  const before = await open(t, server, '/', null);
  const countBefore = await counting(before);
  await before.getByLabel('Name of the new lab').click();
  await typed(before, 'lab\r');
  await twoPCs(before, 'vp');
  await started(before);
  for (const [name, address] of [
    ['PC1', '10.0.0.1/24'],
    ['PC2', '10.0.0.2/24'],
  ] as const) {
    await openConsole(before, name);
    await typed(before, `ip ${address}\r`);
    await screen(before)
      .getByText(new RegExp(`${name} : `))
      .first()
      .waitFor();
  }
  await typed(before, 'ping 10.0.0.1\r');
  await screen(before)
    .getByText(/84 bytes from 10\.0\.0\.1/)
    .first()
    .waitFor();

  const now = await open(t, server, '/', null);
  const countNow = await counting(now);
  await now.getByRole('button', { name: 'New lab' }).click();
  await twoPCs(now, '');
  await press(now, 'Control+a', 'a');
  await until(async () => {
    const projects: { name: string; project_id: string }[] = await server.expect(200, 'GET', '/v2/projects');
    const { project_id: id } = projects.find(({ name }) => name === 'Lab 1')!;
    const nodes: { node_id: string }[] = await server.expect(200, 'GET', `/v2/projects/${id}/nodes`);
    const scripts = nodes.map(({ node_id: node }) =>
      server.call('GET', `/v2/projects/${id}/nodes/${node}/files/startup.vpc`),
    );
    return (await Promise.all(scripts)).every(({ json }) => String(json).includes('ip 10.0.0.'));
  }, 'addresses of both PCs');
  await started(now);
  await openConsole(now, 'PC2');
  await typed(now, 'ping 10.0.0.1\r');
  await screen(now)
    .getByText(/84 bytes from 10\.0\.0\.1/)
    .first()
    .waitFor();
  const way = '`New lab`, `n` Enter Enter Escape, a drag with Ctrl, Ctrl+A `a`, `Start all`, a double click, `ping`';
  note({ task: 'two PCs linked and pinging', before: await countBefore(), now: await countNow(), way });
});

/** Writes `booted` to the first serial port, every second. */
const BOOTED = [
  ...Buffer.from('fb31c08ed8baf803be1b7cac84c07403eeebf8b91200f4e2fdebed', 'hex'),
  ...Buffer.from('booted\r\n\0'),
];

test('an image becomes a booted machine', { skip: WITHOUT_BROWSER || noQemu }, async (t) => {
  const server = await serveInside(t, { 'Qemu.enable_hardware_acceleration': 'false' });
  await server.project('Machines', { auto_close: false });
  await bootSector(server.state, 'tiny.img', ...BOOTED);
  const disk = await readFile(join(server.state, 'tiny.img'));
  const page = await open(t, server);
  await page.getByRole('link', { name: 'Images', exact: true }).click();
  const count = await counting(page);
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByText('Upload images').click()]);
  await chooser.setFiles({ name: 'tiny.img', mimeType: 'application/octet-stream', buffer: disk });
  await page.getByRole('button', { name: 'Make a template of tiny.img' }).click();
  await page.getByLabel('Name', { exact: true }).and(page.locator(':not([value=""])')).waitFor();
  await page.getByRole('button', { name: 'New template' }).click();
  await page.getByRole('row', { name: /^tiny/ }).waitFor();
  await page.getByRole('link', { name: 'Labs', exact: true }).click();
  await page.getByRole('link', { name: 'Machines' }).click();
  await page.getByText('This lab is empty').first().waitFor();
  await press(page, 'n');
  await page.locator('.palette .templates img').first().waitFor();
  await press(page, 'Enter');
  await page.locator('.node').waitFor();
  await press(page, 'Escape', 's');
  await page.locator('.node[data-status="started"]').waitFor();
  await press(page, 'c');
  await screen(page).getByText('booted').first().waitFor();
  const way = 'the upload, `Make a template`, `New template`, `Labs`, the lab, `n` Enter Escape, `s`, `c`';
  // The templates, their type, their name (`tiny`), the disk of a list of images, then the same; `ti` to find the template.
  note({ task: 'a QEMU image to a booted guest', before: 21, now: await count(), way });
});

test('a link gets 30 ms; a snapshot is made and restored', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('Office', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const [one, other] = [await server.hub(project, 'A', { x: -300 }), await server.hub(project, 'B', { x: 300 })];
  const { link_id: id } = await server.link(project, [one, 0], [other, 0]);
  const delays = (milliseconds: number | undefined) =>
    until(async () => {
      const { impairments } = await server.expect(200, 'GET', `${path}/links/${id}`);
      return impairments?.forward.delay?.ms === milliseconds && impairments?.backward.delay?.ms === milliseconds;
    }, `a delay of ${milliseconds} ms`);
  const page = await open(t, server, `/labs/${project.project_id}`);
  const line = async (): Promise<void> => {
    await page.locator('.node').nth(1).waitFor();
    const boxes = [
      await node(page, 'A').locator('image').boundingBox(),
      await node(page, 'B').locator('image').boundingBox(),
    ];
    const [x, y] = (['x', 'y'] as const).map(
      (axis) => boxes.reduce((sum, box) => sum + box![axis] + (axis === 'x' ? box!.width : box!.height) / 2, 0) / 2,
    );
    await page.mouse.click(x!, y!);
  };
  const count = await counting(page);
  await line();
  await page.getByRole('tab', { name: 'Impairments' }).click();
  await page.getByLabel('Delay, Both directions').click();
  await typed(page, '30\r');
  await delays(30);
  const before = await count();
  await server.expect(201, 'PUT', `${path}/links/${id}`, { impairments: null });
  await page.getByRole('main', { name: 'Topology' }).press('Escape');
  const begun = await count();
  await line();
  await typed(page, '30');
  await page.locator('[id$=".delay.ms"]:focus').waitFor();
  await press(page, 'Enter');
  await delays(30);
  note({ task: '30 ms on a link', before, now: (await count()) - begun, way: 'a click on the link, `30`, Enter' });

  const dialog = page.getByRole('dialog');
  const round = async (name: string, given: string): Promise<number> => {
    const first = await count();
    await page.getByRole('button', { name: 'Snapshots' }).click();
    await dialog
      .locator(given === '' ? 'input[name="name"]:focus' : 'p, table')
      .first()
      .waitFor();
    if (given === '')
      await page.waitForFunction(
        (value) => document.querySelector<HTMLInputElement>('input[name="name"]')?.value === value,
        name,
      );
    await typed(page, `${given}\r`);
    await dialog.getByRole('rowheader', { name }).waitFor();
    await press(page, 'Escape');
    await page.getByRole('button', { name: 'Snapshots' }).click();
    await dialog.getByRole('button', { name: `Restore ${name}`, exact: true }).click();
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await dialog
      .getByRole('button', { name: `Restore ${name}`, exact: true })
      .and(page.locator(':enabled'))
      .waitFor();
    await press(page, 'Escape');
    return (await count()) - first;
  };
  const named = await round('before', 'before');
  const way = '`Snapshots`, Enter, Escape; `Snapshots`, `Restore`, `Restore`, Escape';
  note({ task: 'a snapshot and back', before: named, now: await round('Snapshot 1', ''), way });
});

test('a lab is shared with three people', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await serveInside(t);
  const names = ['anna', 'ben', 'chen', 'dana', 'emil', 'fatima'];
  const people = names.map((name) => ({ name, role: 'user' as const, password: `password of ${name}` }));
  await new AccountsFile(server.state).add(people, ['ada']);
  const project = await server.project('Thesis', { auto_close: false });
  const page = await open(t, server);
  const count = await counting(page);
  await page.getByRole('button', { name: 'Share' }).click();
  for (const name of ['anna', 'chen', 'emil']) await page.getByRole('radio', { name: `${name} may watch` }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const { accounts } = await server.expect(200, 'GET', `/v2/projects/${project.project_id}/sharing`);
  assert.deepEqual(accounts, { anna: 'watch', chen: 'watch', emil: 'watch' });
  // A list to open and to choose from for each.
  note({
    task: 'a lab shared with three people',
    before: 8,
    now: await count(),
    way: '`Share`, a click for each, `Save`',
  });
});

test('the figures stand in the document', { skip: WITHOUT_BROWSER || noQemu }, () => {
  const rows = figures.map(({ task, before, now, way }) => `| ${task} | ${before} | ${now} | ${way} |`);
  const content = ['| Task | Before | Now | |', '|---|---|---|---|', ...rows].join('\n');
  const text = readFileSync(DOCUMENT, 'utf8');
  const written = withPart(text, COMMAND, content);
  if (process.env['LABWIRE_WRITE'] === '1') writeFileSync(DOCUMENT, written);
  else assert.ok(text === written, `docs/page.md has other figures than these; run \`${COMMAND}\`:\n${content}`);
});
