// The map by keyboard alone and by mouse alone: what is drawn is what the API has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { Body } from '../body.ts';
import { eventually } from '../system/daemon.ts';
import { Lab } from '../system/lab.ts';
import { accessibilityFaults, accessibilityFaultsInAll } from './accessibility.ts';
import { visit, WITHOUT_BROWSER } from './browser.ts';
import { servedAfar } from './served.ts';

const map = (page: Page): Locator => page.getByRole('listbox', { name: 'Topology' });
const option = (page: Page, name: string): Locator => page.getByRole('option', { name: new RegExp(`^${name}, `) });

/** What has the focus can be seen: it, or the pane around it, has an outline. */
async function assertFocusSeen(page: Page, where: string): Promise<void> {
  const isSeen = await page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return false;
    const around = [element, element.closest('.map'), element.closest('.console')];
    return around.some((one) => one && (getComputedStyle(one).outlineStyle !== 'none' || one.matches('.console')));
  });
  assert.ok(isSeen, `the focus is seen ${where}`);
}

/** Presses F6 until a pane is reached. */
async function goToPane(page: Page, pane: Locator): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    await page.keyboard.press('F6');
    if (await pane.evaluate((element) => element.contains(document.activeElement))) return;
  }
  assert.fail(
    `no way to ${pane}, but to ${await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200))}`,
  );
}

test('by keyboard alone: two PCs and a hub, linked, started, and one answers the other', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address, browser, isSecure } = await servedAfar(t);
  const { page, complaints } = await visit(browser, address);
  assert.equal(await page.evaluate(() => isSecureContext), isSecure);
  const keys = page.keyboard;
  await page.getByText('There is no lab yet.').waitFor();
  for (let count = 0; count < 20; count += 1) {
    await keys.press('Tab');
    if (await page.getByLabel('Name of the new lab').evaluate((field) => field === document.activeElement)) break;
  }
  await assertFocusSeen(page, 'in the name of the lab');
  await keys.type('By keys\n');
  await page.getByText('This lab is empty.').waitFor();
  await page.locator('.live[data-connection="live"]').waitFor();
  await goToPane(page, page.getByRole('main'));
  await assertFocusSeen(page, 'in an empty map');

  await keys.press('n');
  await page.getByRole('dialog').getByRole('button', { name: /^VPCS/ }).waitFor();
  await keys.type('VPCS');
  for (const name of ['PC1', 'PC2']) {
    await keys.press('Enter');
    await option(page, name).waitFor();
  }
  await keys.press('Control+a');
  await keys.type('hub');
  await keys.press('Enter');
  await option(page, 'Hub1').waitFor();
  await keys.press('Escape');
  await assertFocusSeen(page, 'in the map after the templates');

  // From each PC, whose only port needs no choice, to the hub, whose port is chosen.
  for (const name of ['PC1', 'PC2']) {
    await keys.press('Escape');
    // Without waiting for each: letters that come more than a second apart are no name.
    await Promise.all([...name].map((letter) => keys.press(letter)));
    await page.locator(`.node.selected[aria-label^="${name}"]`).waitFor();
    await keys.press('l');
    await page.getByRole('status').filter({ hasText: 'Select the second node' }).waitFor();
    await keys.type('Hub1');
    await keys.press('Enter');
    await page.getByRole('group', { name: 'Port of Hub1' }).getByRole('radio').first().waitFor();
    await assertFocusSeen(page, 'in the ports');
    await keys.press('Enter');
    await page.getByRole('option', { name: `Link ${name} e0 – Hub1` }).waitFor({ state: 'attached' });
    await keys.press('Escape');
  }
  await page.waitForTimeout(1_100); // a name that was begun is over
  assert.deepEqual(await accessibilityFaults(page), []);

  // The Tab key goes from a node to its link, and Shift+Tab back.
  await keys.press('Home');
  await keys.press('Tab');
  await page.locator('.link.selected').waitFor({ state: 'attached' });
  assert.match((await map(page).getAttribute('aria-activedescendant')) ?? '', /^link-/);
  await keys.press('Shift+Tab');
  await keys.press('Control+a');
  await page.locator('.node.selected').nth(2).waitFor();
  await keys.press('s');
  for (const name of ['PC1', 'PC2'])
    await page.getByRole('option', { name: new RegExp(`^${name}, .*, on,`) }).waitFor();

  // Moved by keys: kept by Enter, put back by Escape.
  const { project_id: id } = (await daemon.get('/v2/projects'))[0];
  const nodes = async (): Promise<Body[]> => daemon.get(`/v2/projects/${id}/nodes`);
  const place = async (name: string): Promise<number[]> => {
    const { x, y } = (await nodes()).find((node) => node.name === name);
    return [x, y];
  };
  await keys.press('Home');
  const [x, y] = await place('Hub1');
  for (const key of ['m', 'ArrowLeft', 'Shift+ArrowDown', 'Enter']) await keys.press(key);
  await eventually('the move', async () => String(await place('Hub1')) === String([x! - 10, y! + 100]));
  for (const key of ['m', 'ArrowLeft', 'Escape']) await keys.press(key);
  await keys.press('Control+z');
  await eventually('the place before', async () => String(await place('Hub1')) === String([x, y]));
  await keys.press('F2');
  await page.getByRole('main').getByRole('textbox', { name: 'Name' }).waitFor();
  await keys.type('Middle\n');
  await option(page, 'Middle').waitFor();

  // A copy is taken back, and made again.
  const { length } = await nodes();
  await keys.press('d');
  await page.locator('[data-node]').nth(length).waitFor();
  for (const [key, count] of [
    ['Control+z', length],
    ['Control+Shift+z', length + 1],
    ['Control+z', length],
  ] as const) {
    await keys.press(key);
    await eventually(`${count} nodes after ${key}`, async () => (await nodes()).length === count);
  }
  await page.locator('[data-node]').nth(length).waitFor({ state: 'detached' });

  for (const [name, other] of [
    ['PC1', 1],
    ['PC2', 2],
  ] as const) {
    await goToPane(page, page.getByRole('main'));
    await page.waitForTimeout(1_100); // a name that was begun is over
    await keys.type(name);
    await page.locator(`.node.selected[aria-label^="${name}"]`).waitFor();
    await keys.press('Enter');
    const screen = page.locator('.console:not([hidden]) .xterm-rows');
    await screen.getByText(`${name}>`).first().waitFor();
    await assertFocusSeen(page, 'in a console');
    await keys.type(`ip 10.0.0.${other}/24\r`);
    await screen
      .getByText(new RegExp(`10\\.0\\.0\\.${other} 255`))
      .first()
      .waitFor();
  }
  await keys.type('ping 10.0.0.1 -c 2\r');
  await page
    .locator('.console:not([hidden]) .xterm-rows')
    .getByText(/84 bytes from 10\.0\.0\.1 icmp_seq=2/)
    .waitFor();
  // Once around: every pane is reached and left, and shows that it has the focus.
  const panes = page.locator('[data-pane]:visible');
  const reached = new Set<string>();
  for (let count = (await panes.count()) + 1; count > 0; count -= 1) {
    await keys.press('F6');
    await assertFocusSeen(page, 'in each pane');
    reached.add(
      await page.evaluate(() => {
        const pane = document.activeElement?.closest('[data-pane]');
        return `${pane?.tagName} ${pane?.getAttribute('aria-label')}`;
      }),
    );
  }
  assert.equal(reached.size, await panes.count(), [...reached].join());
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  assert.equal((await daemon.get(`/v2/projects/${id}/links`)).length, 2);
  assert.deepEqual(complaints, []);
});

test('by mouse: templates dragged, links drawn, a rectangle moved with the grid, undone and done again', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address, browser } = await servedAfar(t);
  const lab = await Lab.create(daemon, 'By mouse', { snap_to_grid: true, grid_size: 25 });
  const { page, complaints } = await visit(browser, `${address}labs/${lab.project.project_id}`);
  await page.locator('.live[data-connection="live"]').waitFor();
  const nodes = async (): Promise<Body[]> => daemon.get(`${lab.path}/nodes`);
  const links = async (): Promise<Body[]> => daemon.get(`${lab.path}/links`);
  const { mouse } = page;
  const drag = async (from: [number, number], to: [number, number]): Promise<void> => {
    await mouse.move(...from);
    await mouse.down();
    await mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 3 });
    await mouse.move(...to, { steps: 3 });
    await mouse.up();
  };
  const middleOf = async (target: Locator): Promise<[number, number]> => {
    await target.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await target.boundingBox())!;
    return [x + width / 2, y + height / 2];
  };
  const picture = (name: string): Locator => option(page, name).locator('image');

  await page.getByRole('button', { name: 'Add node' }).click();
  const palette = page.getByRole('dialog', { name: 'Add node' });
  const { x: left, y: top } = (await page.getByRole('main').boundingBox())!;
  for (const [template, name, x, y] of [
    ['Ethernet hub', 'Hub1', 420, 100],
    ['VPCS', 'PC1', 420, 300],
    ['VPCS', 'PC2', 600, 300],
  ] as const) {
    await drag(await middleOf(palette.getByRole('button', { name: template })), [left + x, top + y]);
    await option(page, name).waitFor();
  }
  assert.equal((await nodes()).length, 3);
  await palette.getByRole('button', { name: 'Close' }).click();
  for (const { x, width, y, height } of await nodes()) {
    for (const middle of [x + width / 2, y + height / 2]) {
      const beside = Math.abs(middle / 25 - Math.round(middle / 25)) * 25;
      assert.ok(beside < 1, `${middle} beside the grid`);
    }
  }

  // With Ctrl the first free ports are taken without a question.
  await picture('PC1').hover();
  const [handle, hub1] = [await middleOf(page.locator('.port-handle')), await middleOf(picture('Hub1'))];
  await mouse.move(...handle);
  await mouse.down();
  await mouse.move(...hub1, { steps: 3 });
  await page.keyboard.down('Control');
  await mouse.up();
  await page.keyboard.up('Control');
  await page.getByRole('option', { name: 'Link PC1 e0 – Hub1 e0' }).waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually('no link', async () => (await links()).length === 0);
  await page.locator('[data-link]').waitFor({ state: 'detached' });

  // From the handle of a PC to the hub, where a port is chosen.
  for (const [name, port] of [
    ['PC1', 'e3'],
    ['PC2', 'e5'],
  ] as const) {
    await picture(name).hover();
    await drag(await middleOf(page.locator('.port-handle')), await middleOf(picture('Hub1')));
    // The box is at the pointer, has the first free port chosen, and says where a port leads that is not free.
    const hub = page.getByRole('group', { name: 'Port of Hub1' });
    const box = (await page.getByRole('form', { name: 'Add link' }).boundingBox())!;
    const [hubX, hubY] = await middleOf(picture('Hub1'));
    assert.ok(Math.abs(box.x - hubX) < 5 && Math.abs(box.y - hubY) < 5, JSON.stringify({ box, hubX, hubY }));
    assert.ok(await hub.getByRole('radio', { name: 'e0', exact: true }).isChecked());
    if (name === 'PC2') assert.ok(await hub.getByRole('radio', { name: 'e3 – PC1' }).isDisabled());
    await hub.getByRole('radio', { name: port, exact: true }).check();
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: `Link ${name} e0 – Hub1 ${port}` }).waitFor({ state: 'attached' });
    await hub.waitFor({ state: 'detached' });
  }
  const ends = (await links()).map(({ nodes: both }) => both.map((end: Body) => end.port_number)).sort();
  assert.deepEqual(ends, [
    [0, 3],
    [0, 5],
  ]);

  // All three in a rectangle, moved together.
  await page.keyboard.press('Escape');
  await page.keyboard.down('Shift');
  await drag([left + 330, top + 30], [left + 720, top + 420]);
  await page.keyboard.up('Shift');
  await page.locator('.node.selected').nth(2).waitFor();
  const before = await nodes();
  const [x, y] = await middleOf(picture('PC1'));
  await drag([x, y], [x - 100, y + 51]);
  const moved = async (): Promise<boolean> =>
    (await nodes()).every(
      (node, at) => Math.abs(node.x - before[at].x + 100) <= 13 && Math.abs(node.y - before[at].y - 50) <= 13,
    );
  const isBack = async (): Promise<boolean> =>
    (await nodes()).every((node, at) => node.x === before[at].x && node.y === before[at].y);
  await eventually('three moved nodes', moved);
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually('their former places', isBack);
  await page.getByRole('button', { name: 'Redo' }).click();
  await eventually('the move again', moved);
  // What is drawn is what the API has.
  await eventually(
    'nodes drawn where they are',
    async () => {
      const drawn = await page
        .locator('[data-node]')
        .evaluateAll((all) =>
          all.map((each) => `${each.getAttribute('data-node')} ${each.getAttribute('data-place')}`),
        );
      return [drawn.sort(), (await nodes()).map(({ node_id: id, x, y }) => `${id} ${x} ${y}`).sort()];
    },
    ([drawn, had]) => String(drawn) === String(had),
  );
  assert.deepEqual(
    (await page.locator('[data-link]').evaluateAll((all) => all.map((each) => each.getAttribute('data-link')))).sort(),
    (await links()).map(({ link_id: id }) => id).sort(),
  );
  // The last link is undone and made again, too.
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually('their former places once more', isBack);
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually('one link less', async () => (await links()).length === 1);
  await page.getByRole('button', { name: 'Redo' }).click();
  await eventually('the link again', async () => (await links()).length === 2);
  await page.getByRole('button', { name: 'Redo' }).click();
  await eventually('the move for the third time', moved);
  // Somebody else moves one: nothing is taken back then, and it is said why.
  await daemon.put(`${lab.path}/nodes/${before[0].node_id}`, { x: -300 });
  const after = await nodes();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('another user has changed').waitFor();
  assert.deepEqual(
    (await nodes()).map((node) => [node.x, node.y]),
    after.map((node) => [node.x, node.y]),
  );

  // An ellipse and a line are drawn by dragging, also over a node; Escape leaves nothing, and undoing takes it away.
  await page.getByRole('button', { name: 'Fit' }).click();
  const drawings = async (): Promise<Body[]> => daemon.get(`${lab.path}/drawings`);
  await page.getByRole('button', { name: 'Add ellipse' }).click();
  await page.getByText('Drag on the map to draw').waitFor();
  await mouse.move(left + 60, top + 560);
  await mouse.down();
  await mouse.move(left + 200, top + 600, { steps: 3 });
  await page.locator('.new-shape').waitFor();
  await page.keyboard.press('Escape');
  await mouse.up();
  await page.getByText('Drag on the map to draw').waitFor({ state: 'detached' });
  assert.deepEqual(await drawings(), []);
  await page.getByRole('button', { name: 'Add line' }).click();
  const [lineX, lineY] = await middleOf(picture('PC2'));
  const scale = await page
    .locator('.topology svg > g')
    .first()
    .evaluate((g) => (g as SVGGElement).getCTM()!.a);
  // The grid of drawings is 25 pixels: where a line ends is at most half of that beside the pointer.
  await drag([lineX, lineY], [lineX - 120, lineY + 80]);
  const [line] = await eventually('a line', drawings, (all) => all.length === 1);
  const [, x1, x2, y1, y2] = /x1="(\d+)" x2="(\d+)" y1="(\d+)" y2="(\d+)"/.exec(line.svg)!.map(Number);
  assert.ok(x1! > x2! && y2! > y1!, 'from the right above to the left below');
  assert.ok(Math.abs(x1! - x2! - 120 / scale) <= 25 && Math.abs(y2! - y1! - 80 / scale) <= 25, line.svg);
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually('no line', drawings, (all) => all.length === 0);
  assert.equal((await nodes()).length, 3);

  // A rectangle is made by a click, from the menu of the ground, resized by its handle, and GNS3's clients can read it.
  await mouse.click(left + 60, top + 640, { button: 'right' });
  // At most ten entries; the rest is in submenus, which the arrows enter and leave.
  const entries = page.getByRole('menu').getByRole('menuitem');
  assert.ok((await entries.count()) <= 10, String(await entries.count()));
  const view = page.getByRole('menuitem', { name: 'View' });
  await view.focus();
  await page.keyboard.press('ArrowRight');
  const shown = page.getByRole('menuitemcheckbox', { name: 'Show overview' });
  assert.equal(await shown.getAttribute('aria-checked'), 'true');
  await page.keyboard.press('ArrowLeft');
  await shown.waitFor({ state: 'detached' });
  assert.ok(await view.evaluate((element) => element === document.activeElement), 'focus returns to the entry');
  await page.getByRole('menuitem', { name: 'Draw' }).click();
  await page.getByRole('menuitem', { name: 'Add rectangle' }).click();
  await mouse.click(left + 340, top + 560);
  await page.locator('.sizes [data-handle="se"]').waitFor();
  const corner = await middleOf(page.locator('.sizes [data-handle="se"]'));
  await drag(corner, [corner[0] + 50, corner[1] + 20]);
  await eventually(
    'a larger rectangle',
    async () => (await daemon.get(`${lab.path}/drawings`))[0].svg as string,
    (svg) => /<svg height="(1[1-9]\d)" width="(2[1-9]\d)"><rect [^>]*width="\2" height="\1" \/><\/svg>/.test(svg),
  );
  const rotation = page.getByRole('complementary').getByLabel('Rotation (degrees)');
  await rotation.press('Control+a');
  await rotation.pressSequentially('30\n');
  await eventually('a turned one', async () => (await daemon.get(`${lab.path}/drawings`))[0].rotation === 30);

  // All nodes are arranged by their links: shown first, gone by Escape, kept by Enter, and undone in one step.
  const placesOf = async (): Promise<string> => JSON.stringify((await nodes()).map(({ name, x, y }) => [name, x, y]));
  const drawnAt = async (): Promise<string> =>
    JSON.stringify(
      await page.locator('[data-node]').evaluateAll((all) => all.map((each) => each.getAttribute('data-place'))),
    );
  const untidy = await placesOf();
  const drawnUntidy = await drawnAt();
  await page.getByRole('button', { name: 'Arrange all' }).click();
  const panel = page.getByRole('form', { name: 'Arrange' });
  await panel.getByRole('radio', { name: 'Layers' }).check();
  await eventually('a preview', async () => (await drawnAt()) !== drawnUntidy);
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.equal(await placesOf(), untidy, 'nothing is sent yet');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await eventually('the nodes as before', drawnAt, (drawn) => drawn === drawnUntidy);
  await page.getByRole('button', { name: 'Arrange all' }).click();
  await panel.getByRole('radio', { name: 'Layers' }).check();
  await panel.getByText('Arranging').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await eventually('the PCs below the hub', nodes, (all) => {
    const [pc1, pc2, hub] = ['PC1', 'PC2', 'Hub1'].map((name) => all.find((node) => node.name === name));
    return hub.y < pc1.y - 50 && pc1.y === pc2.y && Math.abs(pc1.x - pc2.x) >= 90;
  });
  await panel.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually('all places of before', placesOf, (places) => places === untidy);
  // The selected nodes are aligned, too.
  await map(page).press('Control+a');
  await page.getByRole('complementary').getByRole('button', { name: 'Arrange' }).click();
  await panel.getByRole('radio', { name: 'Left edges' }).check();
  await panel.getByRole('button', { name: 'Apply' }).click();
  await eventually('one column on the grid', nodes, (all) => {
    const middles = all.map(({ x, width }) => x + width / 2);
    return Math.max(...middles) - Math.min(...middles) <= 1;
  });

  // Nodes that run are deleted only after a question that tells how much it is.
  await daemon.post(`${lab.path}/nodes/start`);
  await page.getByRole('navigation').getByRole('button', { name: 'PC2 on' }).first().waitFor();
  await map(page).press('Control+a');
  await page.keyboard.press('Delete');
  const question = page.getByRole('dialog', { name: 'Delete 3 nodes' });
  await question.getByText(/not what is in memory/).waitFor();
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  assert.deepEqual([(await nodes()).length, (await daemon.get(`${lab.path}/drawings`)).length], [3, 1]);
  assert.deepEqual(complaints, []);
});
