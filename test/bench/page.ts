// What a lab of 1,000 nodes and 1,000 links costs in the browser: bytes, the first picture, memory, and presented frames while hands
// move things, beside those of an empty page in the same run. Repeat with: npm run bench -- --only page
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CDPSession, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { Daemon } from '../system/daemon.ts';
import { CHROMIUM } from '../web/browser.ts';
import { FOR_LARGE_LAB, makeLargeLab } from '../web/large-lab.ts';
import { quantile, table } from './measure.ts';

const SIZE = { width: 1600, height: 900 };
const STEPS = 100;
const FRAME_MS = 16;

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  id?: string;
  id2?: { local?: string };
  ts: number;
  args: { frame_reporter?: { state?: string } };
}

/** Milliseconds between frames that were presented while `gesture` ran, from Chromium's own trace. */
async function framesOf(cdp: CDPSession, gesture: () => Promise<unknown>): Promise<number[]> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: unknown[] }): void => void events.push(...(value as TraceEvent[]));
  cdp.on('Tracing.dataCollected', collect);
  const includedCategories = ['cc', 'benchmark', 'devtools.timeline', 'disabled-by-default-devtools.timeline.frame'];
  await cdp.send('Tracing.start', { traceConfig: { includedCategories }, transferMode: 'ReportEvents' });
  await gesture();
  const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
  await cdp.send('Tracing.end');
  await complete;
  cdp.off('Tracing.dataCollected', collect);
  const begun = new Map<string, TraceEvent>();
  const presented: number[] = [];
  for (const event of events.filter(({ name }) => name === 'PipelineReporter')) {
    const key = `${event.pid} ${event.id2?.local ?? event.id}`;
    if (event.ph === 'b') begun.set(key, event);
    if (event.ph !== 'e') continue;
    const state = begun.get(key)?.args.frame_reporter?.state ?? event.args.frame_reporter?.state ?? '';
    if (state.includes('PRESENTED')) presented.push(event.ts / 1000);
  }
  presented.sort((a, b) => a - b);
  return presented
    .slice(1)
    .map((at, index) => at - presented[index]!)
    .filter((gap) => gap > 0.5);
}

/** Moves the pressed pointer there and back, one step a frame, whether the page keeps up or not. */
async function drag(cdp: CDPSession, x: number, y: number, dx: number, dy: number): Promise<void> {
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
  for (let step = 0; step < STEPS; step += 1) {
    sent.push(mouse('mouseMoved', step < STEPS / 2 ? step : STEPS - step));
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
  }
  sent.push(mouse('mouseReleased', 0));
  await Promise.all(sent);
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
  return framesOf(cdp, () => drag(cdp, 200, 200, 4, 2));
}

const daemon = await new Daemon(FOR_LARGE_LAB).start();
const browser = await chromium.launch({
  ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
});
try {
  const bundler = join(import.meta.dirname, '../../bin/web.mjs');
  const { bundleWeb } = (await import(bundler)) as { bundleWeb(): Promise<{ files: Map<string, Buffer> }> };
  const { files } = await bundleWeb();
  const sizes = new Map<string, number>();
  for (const [name, content] of files) {
    // Parts that several others share have no names of their own.
    const part = name.replace(/-[^-]*(\.\w+)$/, '$1').replace('assets/', '');
    sizes.set(part, (sizes.get(part) ?? 0) + gzipSync(content, { level: 9 }).length);
  }
  process.stdout.write(
    `${table([['part', 'bytes, gzipped'], ...[...sizes].map(([part, bytes]) => [part, String(bytes)])])}\n\n`,
  );

  const lab = await makeLargeLab(daemon);
  const page = await browser.newPage({ viewport: SIZE });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const empty = await emptyFrames(page, cdp);
  const before = performance.now();
  await page.goto(`${daemon.url}/labs/${lab.project.project_id}`);
  await page.locator('.topology.far').waitFor();
  const drawn = performance.now() - before;
  await page.waitForTimeout(2_000);
  const { metrics } = await cdp.send('Performance.getMetrics');
  const heap = (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 2 ** 20;
  process.stdout.write(
    `Drawn ${drawn.toFixed(0)} ms after the address was asked for; heap ${heap.toFixed(0)} MiB.\n\n`,
  );

  const box = (await page.locator('[data-node] image').nth(500).boundingBox())!;
  const main = (await page.getByRole('main').boundingBox())!;
  const rows = [['', 'frames', 'p50 ms', 'p95 ms', 'p95 of the empty page']];
  const best = quantile(empty, 0.95);
  const row = (what: string, frames: readonly number[]): void => {
    const [half, most] = [quantile(frames, 0.5), quantile(frames, 0.95)];
    rows.push([what, String(frames.length), half.toFixed(0), most.toFixed(0), `${(most / best).toFixed(1)} times`]);
  };
  row('an empty page', empty);
  row('pan, all visible', await framesOf(cdp, () => drag(cdp, main.x + 4, main.y + 4, 4, 2)));
  row('drag one node', await framesOf(cdp, () => drag(cdp, box.x + 3, box.y + 3, 3, 2)));
  await page.keyboard.press('Escape');
  await page.keyboard.down('Shift');
  await drag(cdp, main.x + 4, main.y + main.height / 2 - 40, 0, 0);
  await page.mouse.move(main.x + 4, main.y + main.height / 2 - 40);
  await page.mouse.down();
  await page.mouse.move(main.x + main.width - 10, main.y + main.height / 2 + 20, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const count = await page.locator('.node.selected').count();
  const chosen = (await page.locator('.node.selected image').first().boundingBox())!;
  row(`drag ${count} nodes`, await framesOf(cdp, () => drag(cdp, chosen.x + 3, chosen.y + 3, 2, 1)));
  process.stdout.write(`${table(rows)}\n`);
} finally {
  await browser.close();
  await daemon[Symbol.asyncDispose]();
}
process.exit(0);
