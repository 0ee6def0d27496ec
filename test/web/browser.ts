// A browser for tests of the page: Debian's Chromium, which nobody has to download, driven from here.
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where the browser is; undefined if there is none. */
export const CHROMIUM = process.env['LABWIRE_CHROMIUM'] ?? PLACES.find((path) => existsSync(path));

/** A reason to skip tests that need a browser, or false. */
export const WITHOUT_BROWSER = CHROMIUM === undefined && 'chromium is not installed';

/** How long a page may take for a step on a machine that has much else to do. */
export const PATIENCE_MS = 60_000;

export interface Visit {
  page: Page;
  /** What the page must never have: messages of the console, errors, broken rules of the policy, requests to other hosts. */
  complaints: string[];
}

/** A browser that ends with the test. */
export async function startBrowser(t: TestContext): Promise<Browser> {
  const browser = await chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    timeout: PATIENCE_MS,
  });
  t.after(() => browser.close());
  return browser;
}

/** A page of its own, without the cookies and stores of others. */
export async function visit(browser: Browser, address: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(https?|wss?):$/.test(url.protocol) && url.host !== new URL(address).host) complaints.push(`request: ${url}`);
  });
  await page.goto(address);
  return { page, complaints };
}
