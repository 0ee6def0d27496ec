// The connection is cut, the server is killed: the page goes on where it was, and shows what is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../controller/lab-server.ts';
import type { Daemon } from '../system/daemon.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';
import { Way } from './way.ts';

const NODES = 10;
const CHANGES = 200;
/** Labs that close when they are left stay open while the way is cut, however slow the machine is. */
const SLOWLY_CLOSED = { environment: { LABWIRE_SERVER_AUTO_CLOSE_GRACE: '600' } };

interface Kept {
  kept: Map<string, Element>;
}

/** Remembers the elements of all nodes, to know them again. */
async function remember(page: Page): Promise<void> {
  await page.evaluate(() => {
    const elements = [...document.querySelectorAll<SVGElement>('[data-node]')];
    (globalThis as unknown as Kept).kept = new Map(elements.map((element) => [element.dataset['node']!, element]));
  });
}

/** Waits until every node of the map has the place and the name that the API has. Answers which are no longer the same elements. */
async function compared(page: Page, daemon: Daemon, path: string): Promise<string[]> {
  const nodes: { node_id: string; x: number; y: number; name: string }[] = await daemon.get(`${path}/nodes`);
  await page.waitForFunction(
    (expected) => {
      const shown = [...document.querySelectorAll<SVGElement>('[data-node]')].map((element) => {
        return `${element.dataset['node']} ${element.dataset['place']} ${element.querySelector('.name')?.textContent}`;
      });
      return shown.length === expected.length && expected.every((one) => shown.includes(one));
    },
    nodes.map(({ node_id, x, y, name }) => `${node_id} ${x} ${y} ${name}`),
  );
  return page.evaluate(() =>
    [...(globalThis as unknown as Kept).kept].filter(([, element]) => !element.isConnected).map(([id]) => id),
  );
}

test('through a cut with 200 changes and a kill -9 nothing is missed, made twice, or closed', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon } = await serve(t, SLOWLY_CLOSED);
  const way = new Way(() => daemon.port);
  const origin = `http://127.0.0.1:${await way.open(t)}`;
  const { project_id: id } = await daemon.post('/v2/projects', { name: 'Through it all', auto_close: true });
  const path = `/v2/projects/${id}`;
  const ids: string[] = [];
  for (let at = 0; at < NODES; at += 1) {
    const node = { name: `PC${at}`, node_type: 'vpcs', compute_id: 'local', x: at * 100, y: 0 };
    ids.push((await daemon.post(`${path}/nodes`, node)).node_id);
  }
  await daemon.post(`${path}/nodes/${ids[0]}/start`, {});
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `${origin}/labs/${id}`);
  const live = page.locator('.live[data-connection="live"]');
  await live.waitFor();
  const list = page.getByRole('navigation');
  await list.getByRole('button', { name: 'PC0' }).first().click();
  await page.getByRole('complementary').getByRole('button', { name: 'Console' }).first().click();
  const screen = page.locator('.xterm-rows').first();
  await screen.getByText(/>/).first().waitFor();
  await page.keyboard.type('ip 10.1.2.3/24\r');
  await screen
    .getByText(/10\.1\.2\.3/)
    .first()
    .waitFor();
  /** What is typed comes back from the node, and from nowhere else. */
  const type = async (line: string): Promise<void> => {
    // The events are there again before the console is. What is typed until then is lost, which the notice above it tells.
    await page.locator('.pane .notice').waitFor({ state: 'detached' });
    await page.locator('.xterm-helper-textarea').first().focus();
    await page.keyboard.type(`${line}\r`);
    await screen.getByText(line).first().waitFor();
  };
  await remember(page);
  const sockets: URL[] = [];
  page.on('websocket', (socket) => sockets.push(new URL(socket.url())));
  const view = await page.locator('.topology > svg > g').first().getAttribute('transform');

  way.cut();
  await page.getByText('Connection lost, trying again').first().waitFor();
  assert.ok(await page.getByRole('button', { name: 'Start all' }).isDisabled(), 'verbs wait');
  for (let at = 0; at < CHANGES; at += 1) {
    await daemon.put(`${path}/nodes/${ids[at % NODES]}`, { x: (at % NODES) * 100 + at, y: at + 1 });
  }
  way.mend();
  await live.waitFor();
  const resumed = sockets.filter(({ pathname }) => pathname === `${path}/notifications/ws`);
  assert.match(resumed.at(-1)?.searchParams.get('since') ?? '', /\d/, 'it goes on after the last event that it has');
  // Several changes of one node may come as one.
  await page.getByText(/[1-9]\d* changes while away/).waitFor();
  assert.deepEqual(await compared(page, daemon, path), []);
  await screen
    .getByText(/10\.1\.2\.3/)
    .first()
    .waitFor();
  await type('echo after the cut');

  await daemon.kill();
  await page.getByText('Connection lost, trying again').first().waitFor();
  await daemon.start();
  await daemon.put(`${path}/nodes/${ids[1]}`, { name: 'Renamed' });
  await live.waitFor();
  assert.deepEqual(await compared(page, daemon, path), []);

  // Selection and place are as they were, the console is there again (its built-in PC was switched on again), and the lab that closes when it is left is open.
  assert.equal(await page.locator(`[data-node="${ids[0]}"].selected`).count(), 1);
  assert.equal(await page.locator('.topology > svg > g').first().getAttribute('transform'), view);
  await type('echo back again');
  assert.equal((await daemon.get(path)).status, 'opened');
});

test('a lab that closes when it is left says so, and can be kept', { skip: WITHOUT_BROWSER }, async (t) => {
  const { daemon, address } = await serve(t, SLOWLY_CLOSED);
  const { project_id: id } = await daemon.post('/v2/projects', { name: 'Closes', auto_close: true });
  await daemon.post(`/v2/projects/${id}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  const browser = await startBrowser(t);
  const open = async () => {
    const visited = await visit(browser, `${address}labs/${id}`);
    await visited.page.locator('.live[data-connection="live"]').waitFor();
    await visited.page.locator('[data-node]').waitFor(); // the page may listen before it knows the lab
    return visited;
  };
  const [{ page, complaints }, { page: other }] = [await open(), await open()];
  const notice = (which: Page) =>
    which.getByText(/Closes stops soon because it is not open anywhere\. \d+ seconds? left/);
  // What the server is asked in the seconds after the page has left.
  let asked = 0;
  page.on('response', (response) => {
    if (response.url().endsWith('/project-figures')) asked += 1;
  });
  const labs = page.getByRole('link', { name: 'Labs' }).first();
  await labs.click();
  await page.getByRole('link', { name: 'Closes' }).waitFor();
  await until(async () => asked >= 5, 'the answers', 20_000);
  assert.equal(await notice(page).count(), 0, 'another client has it open');

  // The other one comes back in time.
  await other.getByRole('link', { name: 'Labs' }).first().click();
  await notice(other).waitFor();
  await page.getByRole('link', { name: 'Closes' }).click();
  await page.locator('[data-node]').waitFor();
  await notice(other).waitFor({ state: 'hidden' });
  await labs.click();
  await notice(page).waitFor();
  await page.getByRole('button', { name: 'Keep it running' }).click();
  await notice(page).waitFor({ state: 'hidden' });
  assert.equal((await daemon.get(`/v2/projects/${id}`)).auto_close, false);
  assert.deepEqual(complaints, []);
});
