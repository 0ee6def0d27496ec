// The first visit: how long until the labs are listed, beside a page that has one word, and what of the page goes over the wire.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import type { Daemon } from '../system/daemon.ts';
import { median, quantile, table } from './measure.ts';

const ROUNDS = 10;

interface Visit {
  /** From the asking for the address until the frame that has it. */
  shown: number;
  bytes: number;
}

/** A browser without anything in its stores and caches visits the address until the selector has something. */
async function visitOf(browser: Browser, address: string, selector: string): Promise<Visit> {
  const context = await browser.newContext();
  try {
    await context.addInitScript((wanted) => {
      const note = (): void => void Object.assign(globalThis, { shownAt: performance.now() });
      const observer = new MutationObserver(() => {
        if (!document.querySelector(wanted)) return;
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(note));
      });
      observer.observe(document, { childList: true, subtree: true });
    }, selector);
    const page = await context.newPage();
    await page.goto(address);
    const shown = await page.waitForFunction(() => (globalThis as { shownAt?: number }).shownAt);
    const bytes = await page.evaluate(() =>
      performance
        .getEntries()
        .filter((entry) => entry instanceof PerformanceResourceTiming && !entry.name.includes('/v2/'))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize, 0),
    );
    return { shown: (await shown.jsonValue()) ?? Number.NaN, bytes };
  } finally {
    await context.close();
  }
}

/** What is printed of it. */
export async function firstVisit(browser: Browser, daemon: Daemon): Promise<string> {
  await daemon.post('/v2/projects', { name: 'There already', auto_close: false });
  const empty = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>Empty</title><p id="there">there');
  }).listen(0, '127.0.0.1');
  await once(empty, 'listening');
  const visits: Visit[] = [];
  const others: Visit[] = [];
  try {
    const { port } = empty.address() as AddressInfo;
    for (let round = 0; round < ROUNDS; round += 1) {
      visits.push(await visitOf(browser, `${daemon.url}/`, 'a[href^="/labs/"]'));
      others.push(await visitOf(browser, `http://127.0.0.1:${port}/`, '#there'));
    }
  } finally {
    empty.close();
  }
  const row = (what: string, all: readonly Visit[]): string[] => {
    const times = all.map(({ shown }) => shown);
    return [
      what,
      median(times).toFixed(0),
      quantile(times, 1).toFixed(0),
      String(Math.max(...all.map(({ bytes }) => bytes))),
    ];
  };
  return table([
    [`${ROUNDS} first visits`, 'shown after ms, median', 'worst', 'bytes on the wire'],
    row('an empty page', others),
    row('the labs', visits),
  ]);
}
