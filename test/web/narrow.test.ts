// The map by fingers and with the space bar, and a lab in windows that have no room for all of it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import type { Body } from '../body.ts';
import { type LabServer, until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, type VisitOptions, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

interface Shown {
  server: LabServer;
  page: Page;
  complaints: string[];
  /** Paths of both nodes. */
  nodes: string[];
}

/** Two hubs that are linked, 200 pixels apart. */
async function shown(t: TestContext, options: VisitOptions = {}): Promise<Shown> {
  const server = await serveInside(t);
  const project = await server.project('small', { auto_close: false });
  const [a, b] = [await server.hub(project, 'A', { x: -130, y: 0 }), await server.hub(project, 'B', { x: 70, y: 0 })];
  await server.link(project, [a, 0], [b, 0]);
  const browser = await startBrowser(t);
  const address = `http://127.0.0.1:${server.port}/labs/${project.project_id}`;
  const { page, complaints } = await visit(browser, address, options);
  await page.locator('.live[data-connection="live"]').waitFor();
  await node(page, 'A').waitFor({ state: 'attached' });
  const path = (each: Body): string => `/v2/projects/${project.project_id}/nodes/${each.node_id}`;
  return { server, page, complaints, nodes: [path(a), path(b)] };
}

const node = (page: Page, name: string) => page.locator(`.node[aria-label^="${name},"]`);

async function middle(page: Page, name: string): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await node(page, name).locator('image').boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

async function distance(page: Page): Promise<number> {
  const [a, b] = [await middle(page, 'A'), await middle(page, 'B')];
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Fingers, each at its place. */
async function touch(session: CDPSession, type: 'touchStart' | 'touchMove' | 'touchEnd', fingers: number[][]) {
  const touchPoints = fingers.map(([x = 0, y = 0], id) => ({ x, y, id }));
  await session.send('Input.dispatchTouchEvent', { type, touchPoints });
}

test('two fingers move and zoom the map, one moves a node and draws, and with the space bar the mouse moves the map', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, page, complaints, nodes } = await shown(t);
  const place = async (): Promise<number[]> => {
    const [{ x, y }] = [await server.expect(200, 'GET', nodes[0]!)];
    return [x, y];
  };
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 2 });
  const [a, before] = [await middle(page, 'A'), await distance(page)];
  // The first finger is on a node, which must stay where it is once the second comes.
  await touch(session, 'touchStart', [[a.x, a.y]]);
  await touch(session, 'touchMove', [[a.x, a.y + 20]]);
  await touch(session, 'touchStart', [
    [a.x, a.y + 20],
    [a.x + 100, a.y + 20],
  ]);
  await touch(session, 'touchMove', [
    [a.x, a.y + 20],
    [a.x + 150, a.y + 20],
  ]);
  await touch(session, 'touchMove', [
    [a.x, a.y + 60],
    [a.x + 200, a.y + 60],
  ]);
  await touch(session, 'touchEnd', []);
  await until(async () => Math.abs((await distance(page)) / before - 2) < 0.1, 'twice the size');
  const now = await middle(page, 'A');
  assert.ok(Math.abs(now.x - a.x) < 5 && Math.abs(now.y - (a.y + 20)) < 45, JSON.stringify([a, now]));
  assert.deepEqual(await place(), [-130, 0]);

  await touch(session, 'touchStart', [[now.x, now.y]]);
  await touch(session, 'touchMove', [[now.x + 40, now.y + 20]]);
  await touch(session, 'touchMove', [[now.x + 80, now.y + 40]]);
  await touch(session, 'touchEnd', []);
  await until(async () => (await place())[0] !== -130, 'the node that one finger moves');
  const [x, y] = await place();
  assert.ok(Math.abs(x! - -90) <= 3 && Math.abs(y! - 20) <= 3, `${x} ${y}`);

  // A finger draws, and does not move the map meanwhile.
  const drawings = async (): Promise<Body[]> => server.expect(200, 'GET', nodes[0]!.replace(/nodes.*/, 'drawings'));
  await page.getByRole('button', { name: 'Add rectangle' }).click();
  const { x: left, y: top } = (await page.getByRole('main').boundingBox())!;
  await touch(session, 'touchStart', [[left + 30, top + 30]]);
  await touch(session, 'touchMove', [[left + 60, top + 50]]);
  await touch(session, 'touchMove', [[left + 130, top + 90]]);
  await touch(session, 'touchEnd', []);
  await until(async () => (await drawings()).length === 1, 'the rectangle that a finger has drawn');
  const scale = (await distance(page)) / Math.hypot(70 - x!, y!);
  const [, height, width] = /height="(\d+)" width="(\d+)"/.exec((await drawings())[0].svg)!.map(Number);
  assert.ok(Math.abs(width! - 100 / scale) < 3 && Math.abs(height! - 60 / scale) < 3, `${width} ${height} ${scale}`);

  await session.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  await page.keyboard.press('Escape');
  const start = await middle(page, 'B');
  const far = await distance(page);
  await page.mouse.move(start.x, start.y);
  await page.getByRole('main').focus();
  const selected = await page.locator('.node.selected').count();
  await page.keyboard.down(' ');
  await page.mouse.down();
  await page.mouse.move(start.x + 30, start.y + 50, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up(' ');
  await until(async () => Math.abs((await middle(page, 'B')).y - start.y - 50) < 2, 'the map at another place');
  assert.ok(Math.abs((await distance(page)) - far) < 1);
  assert.deepEqual(await place(), [x, y]);
  const { x: bx } = await server.expect(200, 'GET', nodes[1]!);
  assert.equal(bx, 70);
  assert.equal(await page.locator('.node.selected').count(), selected);
  assert.deepEqual(complaints, []);
});

test('on a phone the lists stand for the map, and go on to the details; beside them the map is asked for', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, page, complaints } = await shown(t, { viewport: { width: 390, height: 844 } });
  const lists = page.getByRole('navigation', { name: 'Nodes and links' });
  const panes = page.getByRole('group', { name: 'Parts of the screen' });
  const button = (name: string) => panes.getByRole('button', { name, exact: true });
  await lists.getByRole('button', { name: 'A on' }).waitFor();
  assert.equal(await node(page, 'A').isVisible(), false);
  assert.equal(await button('Lists').getAttribute('aria-pressed'), 'true');
  // Nobody has to scroll for them.
  assert.ok((await lists.boundingBox())!.y < 500);
  assert.deepEqual(await accessibilityFaults(page), []);

  await lists.getByRole('button', { name: 'A on' }).click();
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByRole('heading', { name: 'A' }).waitFor();
  assert.equal(await lists.isVisible(), false);
  assert.deepEqual(await accessibilityFaults(page), []);

  await button('Map').click();
  await node(page, 'B').waitFor();
  assert.equal(await details.isVisible(), false);
  assert.deepEqual(await accessibilityFaults(page), []);
  // What is done upon the map shows it, and then the lists are there again.
  await button('Lists').click();
  await page.getByRole('button', { name: 'Add node' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await lists.getByRole('button', { name: 'B on' }).waitFor();

  // A tablet: drawers over the map, which goes on being there.
  await page.setViewportSize({ width: 800, height: 1000 });
  await button('Map').click();
  await node(page, 'A').waitFor();
  await lists.waitFor({ state: 'hidden' });
  await button('Details').click();
  await details.getByRole('heading', { name: 'A' }).waitFor();
  await node(page, 'A').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const at = await middle(page, 'A');
  await page.mouse.click(at.x, at.y + 150);
  await details.waitFor({ state: 'hidden' });

  await page.setViewportSize({ width: 1280, height: 800 });
  await lists.waitFor();
  await details.waitFor();
  await panes.waitFor({ state: 'detached' });

  // An empty lab begins with the map, where nodes are added below the templates.
  await page.setViewportSize({ width: 390, height: 844 });
  const { project_id: id } = await server.project('empty', { auto_close: false });
  await page.goto(`http://127.0.0.1:${server.port}/labs/${id}`);
  await page.getByText('This lab is empty.').waitFor();
  await page.getByRole('button', { name: 'Add node' }).click();
  await page.getByRole('dialog').getByText('Ethernet hub').click();
  const hub = (await node(page, 'Hub1').boundingBox())!;
  const templates = (await page.getByRole('dialog').boundingBox())!;
  assert.ok(hub.y >= templates.y + templates.height, JSON.stringify([hub, templates]));
  assert.deepEqual(complaints, []);
});
