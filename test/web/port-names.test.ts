// Names of ports on links, dragged by one person, are where they were put for everybody; and drawers close by Escape.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../controller/lab-server.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

/** Where the name of the port is, from its node's upper left corner, in pixels of the lab. */
function placeOf(page: Page, link: string, node: string): Promise<[number, number, boolean]> {
  return page.evaluate(
    ([link, node]) => {
      const text = document.querySelector<SVGTextElement>(`#link-${link} .port[data-end="0"]`)!;
      const place = document.querySelector<SVGElement>(`#node-${node}`)!.dataset['place']!;
      const [x, y] = place.split(' ').map(Number) as [number, number];
      const at = (name: string): number => Number(text.getAttribute(name));
      return [at('x') - x, at('y') - y, text.classList.contains('placed')] as [number, number, boolean];
    },
    [link, node] as const,
  );
}

test('the name of a port is dragged, seen by another user where it was put, and put back by undo', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('ports', { auto_close: false });
  const lab = `/v2/projects/${project.project_id}`;
  const [a, b] = [await server.hub(project, 'A', { x: -200, y: 0 }), await server.hub(project, 'B', { x: 150, y: 0 })];
  const link = await server.link(project, [a, 0], [b, 0]);
  const browser = await startBrowser(t);
  const address = `http://127.0.0.1:${server.port}/labs/${project.project_id}`;
  const [one, other] = [await visit(browser, address), await visit(browser, address)];
  const { page } = one;
  await other.page.locator(`#link-${link.link_id} .line`).waitFor({ state: 'attached' });
  const lists = page.getByRole('navigation', { name: 'Nodes and links' });
  await lists.getByRole('button', { name: /^A .* – B / }).click();
  const text = page.locator(`#link-${link.link_id} .port[data-end="0"]`);
  await text.waitFor();
  const label = async () => (await server.expect(200, 'GET', `${lab}/links/${link.link_id}`)).nodes[0].label;
  const before = await label();
  assert.equal(before.x, undefined);
  assert.equal((await placeOf(page, link.link_id, a.node_id))[2], false);

  const box = (await text.boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 10, y + 30, { steps: 4 });
  await page.mouse.move(x + 20, y + 60, { steps: 4 });
  await page.mouse.up();
  await until(async () => (await label()).y !== undefined, 'a place of the name at the server');
  const put = await label();
  assert.equal(put.text, before.text);
  const now = (await text.boundingBox())!;
  assert.ok(Math.abs(now.x - box.x - 20) <= 2 && Math.abs(now.y - box.y - 60) <= 2, JSON.stringify([box, now]));
  // The node was not moved with it.
  assert.equal((await server.expect(200, 'GET', `${lab}/nodes/${a.node_id}`)).x, -200);
  for (const each of [page, other.page]) {
    await until(
      async () => String(await placeOf(each, link.link_id, a.node_id)) === String([put.x, put.y, true]),
      'the name where it was put',
    );
  }
  // It goes with its node.
  await server.expect(200, 'PUT', `${lab}/nodes/${a.node_id}`, { x: -260 });
  await until(
    async () => String(await placeOf(other.page, link.link_id, a.node_id)) === String([put.x, put.y, true]),
    'the name beside its node',
  );
  await server.expect(200, 'PUT', `${lab}/nodes/${a.node_id}`, { x: -200 });

  await page.getByRole('main').focus();
  await page.keyboard.press('Control+z');
  await until(async () => (await label()).y === undefined, 'the name upon its line again');
  await until(async () => !(await placeOf(other.page, link.link_id, a.node_id))[2], 'the same for somebody else');
  assert.deepEqual([...one.complaints, ...other.complaints], []);
});

test('Escape closes a drawer, from within and from the map, and what is selected stays', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('drawers', { auto_close: false });
  await server.hub(project, 'A', { x: 0, y: 0 });
  const browser = await startBrowser(t);
  const address = `http://127.0.0.1:${server.port}/labs/${project.project_id}`;
  const { page, complaints } = await visit(browser, address, { viewport: { width: 800, height: 900 } });
  const panes = page.getByRole('group', { name: 'Parts of the screen' });
  const lists = page.getByRole('navigation', { name: 'Nodes and links' });
  const details = page.getByRole('complementary', { name: 'Details' });
  const focused = () => page.evaluate(() => document.activeElement?.className);
  await panes.getByRole('button', { name: 'Lists' }).click();
  await lists.getByRole('button', { name: 'A on' }).click();
  await details.getByRole('heading', { name: 'A' }).waitFor();
  await details.getByRole('tab').first().focus();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'hidden' });
  assert.equal(await focused(), 'topology');
  assert.equal(await page.locator('.node.selected').count(), 1);

  await panes.getByRole('button', { name: 'Lists' }).click();
  await lists.waitFor();
  await page.keyboard.press('Escape');
  await lists.waitFor({ state: 'hidden' });
  await panes.getByRole('button', { name: 'Details' }).click();
  await details.waitFor();
  await page.getByRole('main').focus();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'hidden' });
  assert.equal(await page.locator('.node.selected').count(), 1);
  await page.keyboard.press('Escape');
  await until(async () => (await page.locator('.node.selected').count()) === 0, 'nothing selected');

  // On a phone what was shown before the templates has the focus again.
  await page.setViewportSize({ width: 390, height: 844 });
  await panes.getByRole('button', { name: 'Lists' }).click();
  await page.getByRole('button', { name: 'Add node' }).click();
  await page.getByRole('dialog').getByRole('searchbox').waitFor();
  await page.keyboard.press('Escape');
  await lists.getByRole('button', { name: 'A on' }).waitFor();
  await until(async () => page.evaluate(() => document.activeElement?.textContent === 'Lists'), 'the focus');
  assert.deepEqual(complaints, []);
});
