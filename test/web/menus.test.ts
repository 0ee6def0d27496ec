// The menus: at most ten entries, without faults of accessibility, and what they alone do: locking a lab, isolating a node; where they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../controller/lab-server.ts';
import { accessibilityFaultsInAll } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

test('a lab is locked and a node isolated by the menus, by keyboard, and undone', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('Locked', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const [a, b, c] = [
    await server.hub(project, 'A', { x: -200, y: 0 }),
    await server.hub(project, 'B', { x: 0, y: 0 }),
    await server.hub(project, 'C', { x: 200, y: 0 }),
  ];
  for (const [one, other] of [
    [
      [a, 0],
      [b, 0],
    ],
    [
      [b, 1],
      [c, 0],
    ],
    [
      [a, 1],
      [c, 1],
    ],
  ] as const)
    await server.link(project, [...one], [...other]);
  const svg = '<svg width="60" height="30"><rect width="60" height="30" fill="#ffffff" stroke="#000000" /></svg>';
  const drawing = await server.expect(201, 'POST', `${path}/drawings`, { x: -100, y: 150, svg });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const map = page.getByRole('main', { name: 'Topology' });
  const list = page.getByRole('navigation', { name: 'Nodes and links' });
  const pick = (name: RegExp) => list.getByRole('button', { name }).first().click();
  const entries = page.getByRole('menu').locator('[role^=menuitem]');
  const undo = page.getByRole('button', { name: 'Undo' });
  await page.locator('[data-node]').nth(2).waitFor();

  // Each menu and submenu by keyboard: no fault, and not too long for a phone.
  const walk = async (): Promise<void> => {
    await map.press('Shift+F10');
    await entries.first().waitFor();
    assert.ok((await entries.count()) <= 10, (await entries.allInnerTexts()).join());
    const faults = await accessibilityFaultsInAll(page);
    assert.deepEqual(faults, []);
    const submenus = await page
      .getByRole('menu')
      .locator('[data-menu]')
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset['menu']!));
    for (const submenu of submenus) {
      await page.locator(`[data-menu="${submenu}"]`).focus();
      await page.keyboard.press('ArrowRight');
      await page.locator('.back').waitFor();
      assert.ok((await entries.count()) <= 11, `${submenu}: ${(await entries.allInnerTexts()).join()}`);
      await page.keyboard.press('ArrowLeft');
      await page.locator(`[data-menu="${submenu}"]:focus`).waitFor();
    }
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
  };
  await walk();
  for (const name of [/^B /, /^A .* – B /, /^Rectangle/]) {
    await pick(name);
    await walk();
  }

  // A node is isolated, and its links are back by one step.
  const suspended = async (): Promise<number> =>
    (await server.expect(200, 'GET', `${path}/links`)).filter(({ suspend }: { suspend: boolean }) => suspend).length;
  /** Waits until the page, too, shows B as isolated. */
  const isIsolated = async (): Promise<void> => {
    await map.press('Shift+F10');
    await page.getByRole('menuitemcheckbox', { name: 'Isolate', checked: true }).waitFor();
    await page.keyboard.press('Escape');
  };
  const isolate = async (): Promise<void> => {
    await pick(/^B /);
    await map.press('Shift+F10');
    await page.getByRole('menuitemcheckbox', { name: 'Isolate' }).press('Enter');
  };
  await isolate();
  await until(async () => (await suspended()) === 2, 'the links of B suspended');
  await isIsolated();
  await undo.click();
  await until(async () => (await suspended()) === 0, 'no link suspended');
  await page.getByRole('button', { name: 'Redo' }).click();
  await until(async () => (await suspended()) === 2, 'the links of B suspended again');
  await pick(/^B /);
  await isIsolated();
  await isolate();
  await until(async () => (await suspended()) === 0, 'the end of the isolation');

  // A node that was locked before stays so when the lock of the lab is undone.
  await server.expect(200, 'PUT', `${path}/nodes/${c.node_id}`, { locked: true });
  const command = async (words: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill(words);
    await page.getByRole('option').filter({ hasText: words }).first().waitFor();
    await page.keyboard.press('Enter');
  };
  const locks = async (): Promise<boolean[]> => [
    ...(await server.expect(200, 'GET', `${path}/nodes`)).map(({ locked }: { locked: boolean }) => locked),
    ...(await server.expect(200, 'GET', `${path}/drawings`)).map(({ locked }: { locked: boolean }) => locked),
  ];
  await list.getByRole('button', { name: /^C / }).first().waitFor();
  await map.press('Escape');
  await command('Lock the lab');
  await until(async () => (await locks()).every(Boolean), 'all locked');
  const notice = page.getByText('This lab is locked');
  await notice.waitFor();
  assert.deepEqual(await accessibilityFaultsInAll(page), []);

  // What is locked is neither moved nor deleted.
  await pick(/^A /);
  await map.press('m');
  assert.equal(await page.getByText('Arrows move by 10 pixels').count(), 0);
  const { x, y } = (await page.locator(`#node-${a.node_id} image`).boundingBox())!;
  await page.mouse.move(x + 20, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 120, y + 20, { steps: 3 });
  await page.mouse.up();
  await map.press('Delete');
  await page.getByText('A: locked. Unlock first.').waitFor();
  assert.equal((await server.expect(200, 'GET', `${path}/nodes/${a.node_id}`)).x, a.x);
  assert.equal((await server.call('DELETE', `${path}/nodes/${a.node_id}`)).status, 409);
  assert.equal((await server.call('DELETE', `${path}/drawings/${drawing.drawing_id}`)).status, 409);

  await undo.click();
  await notice.waitFor({ state: 'detached' });
  // The notice goes when the first of them is unlocked.
  await until(async () => (await locks()).filter(Boolean).length === 1, 'only C, which was locked before');
  await page.getByRole('button', { name: 'Redo' }).click();
  await page.getByRole('button', { name: 'Unlock the lab' }).click();
  await until(async () => !(await locks()).some(Boolean), 'all unlocked');
  await notice.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('the menu of a button stays at it while the list is scrolled and the window changes, and goes with it; a context menu closes', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const projects = [];
  for (let at = 0; at < 12; at += 1) projects.push(await server.project(`Lab ${at}`, { auto_close: false }));
  const browser = await startBrowser(t);
  const viewport = { width: 1000, height: 500 };
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/`, { viewport });
  await page.getByRole('button', { name: 'Cards' }).click();
  const button = page.getByRole('article').filter({ hasText: 'Lab 4' }).getByRole('button', { name: 'More' });
  const menu = page.getByRole('menu');
  const distance = async (): Promise<number> => {
    const [above, below] = [await button.boundingBox(), await menu.boundingBox()];
    return Math.min(Math.abs(below!.y - above!.y - above!.height), Math.abs(above!.y - below!.y - below!.height));
  };
  const isNear = (what: string) => until(async () => (await distance()) < 6, what);
  await button.click();
  await isNear('the menu at its button');
  const entry = page.locator('[role=menuitem]:focus');
  await page.keyboard.press('ArrowDown');
  const focused = await entry.innerText();
  const before = (await button.boundingBox())!.y;
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, 60);
  await until(async () => (await button.boundingBox())!.y < before, 'the scrolled list');
  await isNear('the menu at its scrolled button');
  await page.setViewportSize({ width: 800, height: 520 });
  await isNear('the menu at its button in another window');
  assert.equal(await entry.innerText(), focused);
  await page.mouse.wheel(0, 2_000);
  await menu.waitFor({ state: 'detached' });

  await page.goto(`http://127.0.0.1:${server.port}/labs/${projects[0].project_id}`);
  await page.getByRole('main', { name: 'Topology' }).press('Shift+F10');
  await menu.waitFor();
  await page.setViewportSize(viewport);
  await menu.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});
