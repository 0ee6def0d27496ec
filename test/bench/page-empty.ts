// A page of the server's own origin with nothing of ours in it: what it hears and is answered is what the server and the browser take.
import type { Browser, Page } from 'playwright-core';
import type { Daemon } from '../system/daemon.ts';

export async function emptyPage(browser: Browser, daemon: Daemon): Promise<Page> {
  // Answers of the API may open nothing. A page that the test makes up cannot either: for the browser it comes from no network.
  const page = await (await browser.newContext({ bypassCSP: true })).newPage();
  await page.goto(`${daemon.url}/v2/version`);
  return page;
}
