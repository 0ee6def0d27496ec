// What stands at links and nodes on the map: rates and drops while traffic is shown, the marks of what a link is asked to do, CPU and memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noVpcs } from '../compute/support.ts';
import { frameSender } from '../controller/frame-sender.ts';
import { until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

test('u shows rates, widths and drops on the map, and links say what they are asked to do', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('traffic', { auto_close: false });
  const [a, b] = [await server.hub(project, 'A', { x: -150, y: 0 }), await server.hub(project, 'B', { x: 150, y: 0 })];
  const { link_id: id } = await server.link(project, [a, 0], [b, 0]);
  const path = `/v2/projects/${project.project_id}`;
  const body = { name: 'PC', node_type: 'vpcs', compute_id: 'local', x: 0, y: 150 };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, body);
  const filtered = await server.link(project, [pc, 0], [b, 1]);
  const send = await frameSender(t, server, { project, hub: a });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const link = page.locator(`#link-${id}`);
  const [rate, mark] = [link.locator('.rate'), link.locator('.mark')];
  await link.waitFor({ state: 'attached' });
  const traffic = page.getByRole('button', { name: 'Traffic' });
  await page.getByRole('main').press('u');
  assert.equal(await traffic.getAttribute('aria-pressed'), 'true');
  assert.equal(await rate.count(), 0);

  // Frames go by until the map has said so.
  const frames = Array.from({ length: 100 }, () => Buffer.alloc(1000));
  const whileSending = async (what: string, fits: () => Promise<boolean>): Promise<void> => {
    await until(async () => {
      await send(frames);
      return fits();
    }, what);
  };
  await whileSending('the rate', async () => /^ \d+(\.\d)? [kM]bit\/s$/.test((await rate.textContent()) ?? ''));
  await whileSending('a line that is wider', async () => Number(await link.getAttribute('data-traffic')) >= 2);
  assert.match((await link.getAttribute('aria-label'))!, /^Link A .* – B .*bit\/s/);
  assert.equal(await link.evaluate((element) => element.classList.contains('dropping')), false);

  await server.expect(201, 'PUT', `${path}/links/${id}`, {
    impairments: { forward: { loss: { percent: 50 }, delay: { ms: 30 } }, backward: {} },
  });
  await until(async () => (await mark.textContent()) === '→ 30 ms 50 %', 'what the link is asked to do');
  await whileSending('drops', () => link.evaluate((element) => element.classList.contains('dropping')));

  await page.getByRole('main').press('u');
  await until(async () => (await rate.textContent()) === '', 'no rate any more');
  assert.equal(await link.getAttribute('data-traffic'), '0');
  assert.equal(await link.evaluate((element) => element.classList.contains('dropping')), false);

  await server.expect(201, 'PUT', `${path}/links/${id}`, {
    impairments: { both: { delay: { ms: 5 } } },
    suspend: true,
  });
  await until(async () => (await mark.textContent()) === '‖  5 ms', 'both directions alike, and suspension');
  await server.expect(201, 'PUT', `${path}/links/${id}`, { impairments: null, suspend: false });
  await server.expect(201, 'POST', `${path}/links/${id}/start_capture`, {});
  // Captured frames are counted on the map without the rates.
  await whileSending('the number of frames', async () => /^● [\d,]+$/.test((await mark.textContent()) ?? ''));
  const other = page.locator(`#link-${filtered.link_id}`);
  await server.expect(201, 'PUT', `${path}/links/${filtered.link_id}`, { filters: { packet_loss: [20] } });
  await until(async () => (await other.locator('.mark').textContent()) === '▼', 'the mark of a filter');
  assert.deepEqual(complaints, []);
});

test('CPU and memory stand beside nodes with a process while they are shown, and the browser remembers that', {
  skip: WITHOUT_BROWSER || noVpcs,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'vpcs' });
  const project = await server.project('load', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const hub = await server.hub(project, 'Hub', { x: 150, y: 0 });
  const body = { name: 'PC', node_type: 'vpcs', compute_id: 'local', x: -150, y: 0 };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, body);
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const load = page.locator(`#node-${pc.node_id} .load`);
  const loadText = async () => ((await load.count()) === 0 ? '' : await load.innerHTML()).replaceAll(/<[^>]*>/g, ' ');
  const toggle = async (): Promise<void> => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('load of nodes');
    await page.getByRole('option', { name: /Load of nodes/ }).waitFor();
    await page.keyboard.press('Enter');
  };
  await page.locator(`#node-${pc.node_id}`).waitFor();
  assert.equal(await load.count(), 0);
  await toggle();
  const isKnown = async (): Promise<boolean> => /[\d.]+ % +[\d.]+ [KM]iB/.test(await loadText());
  await until(isKnown, 'the load');
  await page.reload();
  await until(isKnown, 'the load after a reload');
  assert.equal(await page.locator(`#node-${hub.node_id} .load`).count(), 0);
  assert.deepEqual(await accessibilityFaults(page), []);
  await toggle();
  await until(async () => (await load.count()) === 0, 'no load any more');
  assert.deepEqual(complaints, []);
});
