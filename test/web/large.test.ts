// A large lab in the page: all of it is drawn, gestures move what they should, and after a storm of events it is as the API says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Body } from '../body.ts';
import { eventually, MANY_PORTS } from '../system/daemon.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { LINKS, makeLargeLab, NODES } from './large-lab.ts';
import { serve } from './served.ts';

interface Drawn {
  [id: string]: { status: string; place: string };
}

/** State and place of each node as the map has them. */
function drawn(page: Page): Promise<Drawn> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<SVGElement>('[data-node]')].map((element) => [
        element.dataset['node']!,
        { status: element.dataset['status']!, place: element.dataset['place']! },
      ]),
    ),
  );
}

test('1,000 nodes and 1,000 links are drawn, moved and started', { skip: WITHOUT_BROWSER }, async (t) => {
  const { daemon, address } = await serve(t, { environment: MANY_PORTS });
  const lab = await makeLargeLab(daemon);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${address}labs/${lab.project.project_id}`);
  const counts = (): Promise<number[]> =>
    page.evaluate(() => ['[data-node]', '[data-link]'].map((what) => document.querySelectorAll(what).length));
  await eventually('all of it', async () => String(await counts()) === String([NODES, LINKS]));
  await page.locator('.topology.far').waitFor(); // fitted
  assert.equal(await page.locator('.node .state').first().isVisible(), true, 'states are seen from afar');
  assert.equal(await page.locator('.node .name').first().isVisible(), false);

  const nodes = async (): Promise<Body[]> => daemon.get(`${lab.path}/nodes`);
  const assertEqual = async (what: string): Promise<void> => {
    const all = await nodes();
    await eventually(
      what,
      async () => {
        const shown = await drawn(page);
        return all
          .filter(({ node_id: id, status, x, y }) => shown[id]?.status !== status || shown[id]?.place !== `${x} ${y}`)
          .map(({ node_id: id, name }) => [name, shown[id]])
          .slice(0, 5);
      },
      (wrong) => wrong.length === 0,
      60_000,
    );
  };
  await assertEqual('places and states');

  // Panned by hand, then one node dragged, then a hundred.
  const box = (await page.getByRole('main').boundingBox())!;
  const { mouse } = page;
  const drag = async (
    x: number,
    y: number,
    dx: number,
    dy: number,
    beforeDrop: () => Promise<unknown> = async () => {},
  ): Promise<void> => {
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(x + dx, y + dy, { steps: 10 });
    await beforeDrop();
    await mouse.up();
  };
  await drag(box.x + 3, box.y + 3, 30, 10);
  const one = page.locator('[data-node]').nth(500).locator('image');
  const { x, y } = (await one.boundingBox())!;
  const before = new Map((await nodes()).map((node) => [node.node_id, node]));
  const movedCount = async (): Promise<number> =>
    (await nodes()).filter((node) => node.x !== before.get(node.node_id).x).length;
  await drag(x + 2, y + 2, 40, 20);
  await eventually('one that was moved', async () => (await movedCount()) === 1);
  await page.keyboard.press('Escape');
  await page.keyboard.down('Shift');
  await drag(box.x + 2, box.y + box.height / 2 - 70, box.width - 10, 60);
  await page.keyboard.up('Shift');
  const selected = await page.locator('.node.selected').count();
  assert.ok(selected > 150 && selected < NODES, `${selected} selected`);
  const first = (await page.locator('.node.selected image').first().boundingBox())!;
  const all = new Set(
    await page
      .locator('.node.selected')
      .evaluateAll((found) => found.map((element) => (element as SVGElement).dataset['node'])),
  );
  const ends: number[] = (await daemon.get(`${lab.path}/links`)).map(
    (link: Body) => link.nodes.filter(({ node_id }: Body) => all.has(node_id)).length,
  );
  const withEnds = (count: number): number => ends.filter((held) => held === count).length;
  /** Of the pictures of links with one dragged end, and of what is dragged. */
  const dragged = async (): Promise<number[]> =>
    page.evaluate(() =>
      ['svg:nth-child(2) .link', 'svg:nth-child(4) .link', 'svg:nth-child(4) .node'].map(
        (what) => document.querySelectorAll(`.topology > ${what}`).length,
      ),
    );
  await drag(first.x + 2, first.y + 2, 20, 10, () =>
    eventually(
      'all that are dragged',
      async () => String(await dragged()) === String([withEnds(1), withEnds(2), selected]),
    ),
  );
  const moved = all.has((await page.locator('[data-node]').nth(500).getAttribute('data-node'))!)
    ? selected
    : selected + 1;
  await eventually('many that were moved', async () => (await movedCount()) === moved);
  await assertEqual('what was moved');
  await page.keyboard.press('Control+z');
  await eventually('many that are back', async () => (await movedCount()) === 1, Boolean, 60_000);

  // All are started at once: events of 800 PCs.
  await page.getByRole('button', { name: 'Start all' }).click();
  await eventually(
    'all to run',
    async () => (await nodes()).every(({ status }) => status === 'started'),
    Boolean,
    120_000,
  );
  await assertEqual('what runs');
  assert.deepEqual(complaints, []);
});
