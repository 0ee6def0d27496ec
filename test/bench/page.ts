// What the page costs in the browser, beside an empty page in the same run: the first visit; labs of 1,000 and of 5,000 nodes with as many links (the first
// picture, memory, presented frames while hands move things); what two people see of each other; captures.
// Repeat with: npm run bench -- --only page
import { once } from 'node:events';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { Daemon, MANY_PORTS } from '../system/daemon.ts';
import type { Lab } from '../system/lab.ts';
import { CHROMIUM } from '../web/browser.ts';
import { makeLargeLab } from '../web/large-lab.ts';
import { median, quantile, table } from './measure.ts';
import { captures } from './page-captures.ts';
import { twoBrowsers } from './page-pair.ts';
import { beginTrace, framesOf, longestTask, traceOf } from './page-trace.ts';
import { firstVisit } from './page-visit.ts';

const SIZE = { width: 1600, height: 900 };
const STEPS = 100;
const FRAME_MS = 16;
/** How often a drag is begun, in how many steps, and how long it is still afterwards. */
const [STARTS, START_STEPS, REST_MS] = [7, 12, 800];

/** Moves the pressed pointer there and back in so many steps, one a frame, whether the page keeps up or not. `end` comes before its release. */
async function drag(
  cdp: CDPSession,
  [x, y]: readonly [number, number],
  [dx, dy]: readonly [number, number],
  { steps = STEPS, end = async () => {} }: { steps?: number; end?: () => Promise<unknown> } = {},
): Promise<void> {
  const mouse = (type: 'mousePressed' | 'mouseMoved' | 'mouseReleased', at: number): Promise<unknown> =>
    cdp.send('Input.dispatchMouseEvent', {
      type,
      x: x + dx * at,
      y: y + dy * at,
      button: 'left',
      buttons: type === 'mouseReleased' ? 0 : 1,
      clickCount: 1,
    });
  const sent = [mouse('mousePressed', 0)];
  for (let step = 0; step < steps; step += 1) {
    sent.push(mouse('mouseMoved', step < steps / 2 ? step : steps - step));
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
  }
  await Promise.all(sent);
  await end();
  await mouse('mouseReleased', 0);
}

/** Milliseconds of CPU of the busiest frame when a drag from this point begins, each time; Escape ends it. */
async function startsOf(page: Page, cdp: CDPSession, from: readonly [number, number]): Promise<number[]> {
  const longest: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const events = await beginTrace(cdp);
    const end = async (): Promise<void> => {
      longest.push(longestTask(await events()));
      await page.keyboard.press('Escape');
    };
    await drag(cdp, from, [4, 2], { steps: START_STEPS, end });
    await page.waitForTimeout(REST_MS);
  }
  return longest;
}

/** Milliseconds of CPU of the busiest frame from the drop of all that is selected until the server has answered and all is drawn in its place. */
async function endOf(page: Page, cdp: CDPSession, [x, y]: readonly [number, number]): Promise<number> {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 24, y + 12, { steps: START_STEPS });
  await page.waitForTimeout(REST_MS);
  const events = await traceOf(cdp, async () => {
    await page.mouse.up();
    // The fourth picture has what is dragged.
    await page.waitForFunction(() => !document.querySelector('.topology > svg:nth-child(4) [data-node]'));
    await page.waitForTimeout(REST_MS);
  });
  return longestTask(events);
}

/** A page that does nothing but move one square: what this machine presents at best. */
async function emptyFrames(page: Page, cdp: CDPSession): Promise<number[]> {
  await page.goto('about:blank');
  await page.evaluate(() => {
    const square = document.createElement('div');
    square.textContent = 'x';
    square.style.position = 'absolute';
    document.body.append(square);
    addEventListener('pointermove', ({ clientX }) => {
      square.style.left = `${clientX}px`;
    });
  });
  return framesOf(await traceOf(cdp, () => drag(cdp, [200, 200], [4, 2])));
}

/** Starts all of the lab; answers the milliseconds from the last event that tells of it, as a listener hears it, to the last change of the map. */
async function allStarted(page: Page, { daemon, path }: Lab): Promise<number> {
  const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}${path}/notifications/ws`);
  let heard = 0;
  socket.onmessage = ({ data }) => {
    if (String(data).includes('"started"')) heard = performance.timeOrigin + performance.now();
  };
  await once(socket, 'open');
  await page.evaluate(() => {
    const note = (): void => void Object.assign(globalThis, { changedAt: performance.timeOrigin + performance.now() });
    new MutationObserver(note).observe(document.body, { attributeFilter: ['data-status'], subtree: true });
  });
  await page.getByRole('button', { name: 'Start all' }).click();
  await page.waitForFunction(() => !document.querySelector('[data-node]:not([data-status="started"])'));
  const changed = await page.evaluate(() => (globalThis as unknown as { changedAt: number }).changedAt);
  socket.close();
  return changed - heard;
}

/** Opens a lab of so many hubs with four PCs each; pans, and drags one node and a row of them. The page stays open. */
async function gestures(browser: Browser, daemon: Daemon, hubs: number): Promise<{ page: Page; lab: Lab }> {
  const lab = await makeLargeLab(daemon, hubs);
  const nodes = hubs * 5;
  const page = await browser.newPage({ viewport: SIZE });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const empty = await emptyFrames(page, cdp);
  await page.goto(`${daemon.url}/`);
  const open = page.getByRole('link', { name: lab.project.name, exact: true });
  await open.waitFor();
  let drawn = 0;
  const opening = await traceOf(cdp, async () => {
    const before = performance.now();
    await open.click();
    await page.waitForFunction((all) => document.querySelectorAll('[data-node]').length === all, nodes);
    drawn = performance.now() - before;
    await page.waitForTimeout(2_000);
  });
  const { metrics } = await cdp.send('Performance.getMetrics');
  const heap = (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 2 ** 20;
  process.stdout.write(
    `${nodes} nodes and as many links: drawn ${drawn.toFixed(0)} ms after the click in the list of labs, by tasks of at most ${longestTask(opening).toFixed(0)} ms of CPU; heap ${heap.toFixed(0)} MiB.\n\n`,
  );

  const box = (await page
    .locator('[data-node] image')
    .nth(nodes / 2)
    .boundingBox())!;
  const main = (await page.getByRole('main').boundingBox())!;
  const rows = [['', 'frames', 'p50 ms', 'p95 ms', 'p95 of the empty page']];
  const best = quantile(empty, 0.95);
  const row = (what: string, frames: readonly number[]): void => {
    const [half, most] = [quantile(frames, 0.5), quantile(frames, 0.95)];
    rows.push([what, String(frames.length), half.toFixed(0), most.toFixed(0), `${(most / best).toFixed(1)} times`]);
  };
  row(`${nodes} nodes: an empty page`, empty);
  const starts = [[`a drag begins, median of ${STARTS}`, 'CPU of its busiest frame, ms', 'worst']];
  const measured = async (what: string, from: readonly [number, number], way: readonly [number, number]) =>
    row(what, framesOf(await traceOf(cdp, () => drag(cdp, from, way))));
  const measuredStart = async (what: string, from: readonly [number, number]): Promise<void> => {
    const longest = await startsOf(page, cdp, from);
    starts.push([what, median(longest).toFixed(0), quantile(longest, 1).toFixed(0)]);
  };
  await measured('pan, all visible', [main.x + 4, main.y + 4], [4, 2]);
  await measuredStart('one node', [box.x + 3, box.y + 3]);
  await measured('drag one node', [box.x + 3, box.y + 3], [3, 2]);
  await page.keyboard.press('Escape');
  await page.keyboard.down('Shift');
  await drag(cdp, [main.x + 4, main.y + main.height / 2 - 40], [0, 0]);
  await page.mouse.move(main.x + 4, main.y + main.height / 2 - 40);
  await page.mouse.down();
  await page.mouse.move(main.x + main.width - 10, main.y + main.height / 2 + 20, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const count = await page.locator('.node.selected').count();
  const chosen = (await page.locator('.node.selected image').first().boundingBox())!;
  await measuredStart(`${count} nodes`, [chosen.x + 3, chosen.y + 3]);
  await measured(`drag ${count} nodes`, [chosen.x + 3, chosen.y + 3], [2, 1]);
  const end = await endOf(page, cdp, [chosen.x + 3, chosen.y + 3]);
  starts.push([`the end of a drag of ${count} nodes, once`, end.toFixed(0), '']);
  process.stdout.write(`${table(rows)}\n\n${table(starts)}\n\n`);
  return { page, lab };
}

const daemon = await new Daemon({ config: '[VPCS]\nengine = built-in\n', environment: MANY_PORTS }).start();
const browser = await chromium.launch({
  ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
});
try {
  process.stdout.write(`${await firstVisit(browser, daemon)}\n\n`);
  await gestures(browser, daemon, 1_000).then(({ page: larger }) => larger.close());
  const { page, lab } = await gestures(browser, daemon, 200);
  await page.keyboard.press('Escape');
  const behind = await allStarted(page, lab);
  process.stdout.write(`All started: the map has the last state ${behind.toFixed(0)} ms after its event.\n\n`);
  await page.close();
  for (const scenario of [twoBrowsers, captures]) process.stdout.write(`${await scenario(browser, daemon)}\n\n`);
} finally {
  await browser.close();
  await daemon[Symbol.asyncDispose]();
}
process.exit(0);
