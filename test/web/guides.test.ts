// Dragging with guides, and groups: what comes in line, what goes along, and what other clients get.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../controller/lab-server.ts';
import { eventually } from '../eventually.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

test('a dragged node comes in line with another one, a group takes its nodes along, and Alt and a click end both', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('guided', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const ids = {
    A: await server.hub(project, 'A', { x: -200, y: -100 }),
    B: await server.hub(project, 'B', { x: 60, y: -20 }),
    C: await server.hub(project, 'C', { x: 100, y: 160 }),
  };
  const placeOf = async (name: keyof typeof ids): Promise<[number, number]> => {
    const { x, y } = await server.expect(200, 'GET', `${path}/nodes/${ids[name].node_id}`);
    return [x, y];
  };
  const drawings = () => server.expect(200, 'GET', `${path}/drawings`);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const picture = (name: string) => page.locator(`.node[aria-label^="${name},"] image`);
  await picture('C').waitFor();
  const end = ({ node_id }: { node_id: string }) => ({ node_id, adapter_number: 0, port_number: 0 });
  const overview = page.getByRole('complementary').getByRole('definition');
  assert.deepEqual(await overview.allInnerTexts(), ['3 of 3 running', '0']);
  await server.expect(201, 'POST', `${path}/links`, { nodes: [end(ids.A), end(ids.C)] });
  await until(async () => String(await overview.allInnerTexts()) === '3 of 3 running,1', 'the number of links');
  /** Presses in the middle of the thing and moves; the caller drops it. */
  const drag = async (what: ReturnType<Page['locator']>, dx: number, dy: number): Promise<void> => {
    // A drawing that has just changed is drawn again.
    const { x, y, width, height } = (await eventually('what is dragged', () => what.boundingBox()))!;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + dx, y + height / 2 + dy, { steps: 5 });
  };
  const guides = page.locator('.guides line');

  // Three pixels beside the line of B.
  await drag(picture('A'), 3, 83);
  await until(async () => (await guides.count()) === 1, 'a guide along the row');
  await page.mouse.up();
  await until(async () => String(await placeOf('A')) === '-197,-20', 'A in the row of B');
  assert.equal(await guides.count(), 0);
  await page.keyboard.down('Alt');
  await drag(picture('A'), 0, 5);
  assert.equal(await guides.count(), 0);
  await page.mouse.up();
  await page.keyboard.up('Alt');
  await until(async () => String(await placeOf('A')) === '-197,-15', 'A beside the row');

  // A group around A and B, from the menu.
  await page.keyboard.press('Escape');
  await page.keyboard.down('Control');
  for (const name of ['A', 'B']) await picture(name).click();
  await page.keyboard.up('Control');
  await picture('B').click({ button: 'right' });
  await page.getByRole('menu').getByRole('menuitem', { name: 'Position and layers' }).click();
  await page.getByRole('menu').getByRole('menuitem', { name: 'Group', exact: true }).click();
  await until(async () => (await drawings()).length === 1, 'the group');
  const [{ x, y, svg }] = await drawings();
  assert.match(svg, /^<svg [^<>]*class="group"><rect [^<>]*><\/svg>$/);
  await page.locator('.drawing.selected').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);

  await page.keyboard.down('Alt');
  await drag(page.locator('.drawing rect'), 40, -30);
  await page.mouse.up();
  await page.keyboard.up('Alt');
  await until(async () => String(await placeOf('B')) === '100,-50', 'B with its group');
  await until(async () => String(await placeOf('A')) === '-157,-45', 'and A');
  assert.deepEqual(await placeOf('C'), [100, 160]);
  const placeOfGroup = async () => (await drawings()).map((one: { x: number; y: number }) => [one.x, one.y]).join();
  await until(async () => (await placeOfGroup()) === `${x + 40},${y - 30}`, 'the group itself');
  await page.getByRole('button', { name: 'Undo' }).click();
  await until(async () => String(await placeOf('B')) === '60,-20', 'all of it back in one step');
  await until(async () => String(await placeOf('A')) === '-197,-15', 'with A');

  // An ordinary drawing again.
  await page.getByLabel('Group: moves what is inside it').uncheck();
  await until(async () => !(await drawings())[0].svg.includes('class='), 'the drawing');
  await page.keyboard.down('Alt');
  await drag(page.locator('.drawing rect'), 0, 20);
  await page.mouse.up();
  await page.keyboard.up('Alt');
  await until(async () => (await drawings())[0].y === y + 20, 'the drawing alone');
  assert.deepEqual(await placeOf('B'), [60, -20]);
  assert.deepEqual(complaints, []);
});
