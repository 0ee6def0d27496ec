// What a hand holds on the map moves as one picture, with the links between; what it does not hold is left alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../controller/lab-server.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

interface Counted {
  changed: string[];
}

/** Middle of a node's picture, in pixels of the window. */
async function middle(page: Page, name: string): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await page.locator(`.node[aria-label^="${name},"] image`).boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

/** Both ends of a link's line, in pixels of the window, rounded. */
function ends(page: Page, id: string): Promise<number[][]> {
  return page.locator(`#link-${id} .line`).evaluate((element) => {
    const line = element as SVGPathElement;
    const matrix = line.getScreenCTM()!;
    return [0, line.getTotalLength()].map((at) => {
      const { x, y } = line.getPointAtLength(at).matrixTransform(matrix);
      return [Math.round(x), Math.round(y)];
    });
  });
}

/** Waits until nothing is held any more: the picture of what is held is then in no other place than the rest. */
async function putDown(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const pictures = [...document.querySelectorAll<SVGSVGElement>('.topology > svg')];
    return pictures.length > 0 && pictures.every(({ style }) => style.transform === '');
  });
}

test('two linked nodes in a hand move with their link, the link to a third one follows, and nothing else is touched', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('held', { auto_close: false });
  const [a, b, c] = [
    await server.hub(project, 'A', { x: -200, y: -100 }),
    await server.hub(project, 'B', { x: -60, y: -100 }),
    await server.hub(project, 'C', { x: 100, y: 60 }),
  ];
  const inner = await server.link(project, [a, 0], [b, 0]);
  const border = await server.link(project, [b, 1], [c, 1]);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await page.locator(`#link-${border.link_id}`).waitFor({ state: 'attached' });
  const order = () => page.locator('[role="option"]').evaluateAll((all) => all.map(({ id }) => id));
  const before = await order();
  const at = { a: await middle(page, 'A'), b: await middle(page, 'B'), c: await middle(page, 'C') };
  await page.mouse.click(at.a.x, at.a.y);
  await page.keyboard.down('Shift');
  await page.mouse.click(at.b.x, at.b.y);
  await page.keyboard.up('Shift');
  await page.mouse.move(at.a.x, at.a.y);
  await page.mouse.down();
  await page.mouse.move(at.a.x + 20, at.a.y + 10, { steps: 3 });
  await until(async () => Math.round((await middle(page, 'A')).x) === Math.round(at.a.x + 20), 'A in the hand');
  await page.evaluate(() => {
    const changed: string[] = [];
    (globalThis as unknown as Counted).changed = changed;
    const note = (records: MutationRecord[]): void => {
      for (const { target } of records) changed.push((target as Element).closest('[role="option"]')?.id ?? 'picture');
    };
    const options = {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['transform', 'data-place', 'd', 'x', 'cx'],
    };
    new MutationObserver(note).observe(document.querySelector('.topology')!, options);
  });
  await page.mouse.move(at.a.x + 80, at.a.y + 40, { steps: 10 });
  const close = (one: { x: number; y: number }, x: number, y: number): boolean =>
    Math.abs(one.x - x) <= 1 && Math.abs(one.y - y) <= 1;
  await until(async () => close(await middle(page, 'A'), at.a.x + 80, at.a.y + 40), 'A where the hand is');
  assert.ok(close(await middle(page, 'B'), at.b.x + 80, at.b.y + 40));
  assert.ok(close(await middle(page, 'C'), at.c.x, at.c.y));
  const [fromA, toB] = await ends(page, inner.link_id);
  const [fromB, toC] = await ends(page, border.link_id);
  assert.ok(close({ x: fromA![0]!, y: fromA![1]! }, at.a.x + 80, at.a.y + 40), String(fromA));
  assert.ok(close({ x: toB![0]!, y: toB![1]! }, at.b.x + 80, at.b.y + 40), String(toB));
  assert.deepEqual(fromB, toB);
  assert.ok(close({ x: toC![0]!, y: toC![1]! }, at.c.x, at.c.y), String(toC));
  // While it moves, the browser has nothing to paint but the link at the border.
  const changed = await page.evaluate(() => [...new Set((globalThis as unknown as Counted).changed)]);
  assert.deepEqual(changed, [`link-${border.link_id}`]);

  // Somebody else renames what is held: it stays in the hand.
  await server.expect(200, 'PUT', `/v2/projects/${project.project_id}/nodes/${b.node_id}`, { name: 'Renamed' });
  await page.locator('.node[aria-label^="Renamed,"]').waitFor();
  assert.ok(close(await middle(page, 'Renamed'), at.b.x + 80, at.b.y + 40));
  await page.mouse.up();
  const place = async (id: string) => server.expect(200, 'GET', `/v2/projects/${project.project_id}/nodes/${id}`);
  await until(async () => (await place(a.node_id)).x === -120, 'the new place');
  await putDown(page);
  assert.deepEqual(await order(), before, 'all in their places among the others');
  assert.ok(close(await middle(page, 'A'), at.a.x + 80, at.a.y + 40));
  assert.deepEqual(complaints, []);
});

test('a node that is dragged on before the server has answered moves on from where it was dropped', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('dragged on', { auto_close: false });
  const node = await server.hub(project, 'A', { x: -200, y: -100 });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await page.locator('.node').waitFor();
  const held: (() => void)[] = [];
  await page.route('**/v2/projects/*/nodes/*', async (route) => {
    if (route.request().method() === 'PUT') await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  const start = await middle(page, 'A');
  for (const [from, to] of [
    [0, 60],
    [60, 100],
  ] as const) {
    await page.mouse.move(start.x + from, start.y);
    await page.mouse.down();
    await page.mouse.move(start.x + to, start.y, { steps: 4 });
    await until(async () => Math.abs((await middle(page, 'A')).x - start.x - to) <= 1, `A moved by ${to}`);
    await page.mouse.up();
    await until(async () => held.length > 0, 'the first request');
  }
  const x = async () => (await server.expect(200, 'GET', `/v2/projects/${project.project_id}/nodes/${node.node_id}`)).x;
  for (const [request, place] of [-140, -100].entries()) {
    await until(async () => held.length > request, 'the request of a drop');
    held[request]!();
    await until(async () => (await x()) === place, 'its place');
  }
  await putDown(page);
  assert.ok(Math.abs((await middle(page, 'A')).x - start.x - 100) <= 1);
  assert.deepEqual(complaints, []);
});
