// A browser for tests of the page: Debian's Chromium, which nobody has to download, driven from here; Firefox when it is asked for.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { CREDENTIALS, type Credentials } from './credentials.ts';
import { FIREFOX, fillAsUser, IS_FIREFOX, launchFirefox } from './firefox.ts';
import { tellUnanswered, watchRequests } from './unanswered.ts';

/** The whole browser, for what its headless shell does not do, such as forgetting a password of HTTP Basic that was refused. */
export const WHOLE_CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);

/** Shows the same pages, and takes a quarter less of the processor. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

/** Where the browser is; undefined if there is none. */
export const CHROMIUM =
  process.env['LABWIRE_CHROMIUM'] ?? (existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : WHOLE_CHROMIUM);

/** A reason to skip tests that need a browser, or false. */
export const WITHOUT_BROWSER = IS_FIREFOX
  ? FIREFOX === undefined && 'firefox-esr is not installed'
  : CHROMIUM === undefined && 'chromium-headless-shell is not installed';

/** How long a page may take for a step on a machine that has much else to do. */
export const PATIENCE_MS = 60_000;

/** Chooses an action of a lab that is in the menu of its row or card. */
export async function chooseFromMore(lab: Locator, action: string): Promise<void> {
  await lab.getByRole('button', { name: 'More' }).click();
  await lab.page().getByRole('menuitem', { name: action }).click();
}

/** Answers the question that the page asks before something that cannot be undone. Gives its text. */
export async function confirmIn(page: Page, verb = 'Delete'): Promise<string> {
  const dialog = page.getByRole('dialog');
  const text = await dialog.getByRole('paragraph').innerText();
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  return text;
}

/** The second needs larger shared memory than containers have; the last two draw letters alike on all machines. */
const FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-lcd-text',
  '--font-render-hinting=none',
];

/** The only font of the pictures that are kept, whatever else is installed. */
const FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf';

export const WITHOUT_FONT = !existsSync(FONT) && 'fonts-dejavu-core is not installed';

export interface Visit {
  page: Page;
  /** What the page must never have: messages of the console, errors, broken rules of the policy, requests to other hosts. */
  complaints: string[];
}

export interface VisitOptions {
  /** Pixels; 1280 x 800 without. Half of a window at `scale` 2 is what a zoom of 200 % shows. */
  viewport?: { width: number; height: number };
  scale?: number;
  /**
   * Those of the tests' servers without this; null: none. They are sent with every request and socket, as browsers do once somebody has typed
   * them. Playwright's `httpCredentials` would hold each request until the test lets it go: nothing large could be sent, and the browser's
   * cache was not used.
   */
  credentials?: Credentials | null;
  /** The password is given when the server asks, by `httpCredentials`: downloads, which no page sends, get it only so. */
  isAsked?: boolean;
  /** Language and time zone, whatever the machine has. */
  place?: { locale: string; timezoneId: string };
}

let shared: Promise<Browser> | undefined;

// Registered once, for the whole file: starting a browser takes longer than most tests.
after(async () => (await shared)?.close());

/** The browser of this file of tests. What a test opens in it is closed when the test ends. */
export async function startBrowser(t: TestContext): Promise<Browser> {
  shared ??= IS_FIREFOX ? launchFirefox(PATIENCE_MS) : launch(CHROMIUM);
  const browser = await shared;
  const before = new Set(browser.contexts());
  t.after(async () => {
    const own = browser.contexts().filter((context) => !before.has(context));
    tellUnanswered(t, own);
    await Promise.all(own.map((context) => context.close()));
  });
  return browser;
}

/** A browser of the test's own, started by another program, such as one that enters a network namespace first. */
export async function startBrowserBy(t: TestContext, path: string): Promise<Browser> {
  const browser = await launch(path);
  t.after(async () => {
    tellUnanswered(t, browser.contexts());
    await browser.close();
  });
  return browser;
}

function launch(path: string | undefined): Promise<Browser> {
  return chromium.launch({
    ...(path === undefined ? {} : { executablePath: path }),
    args: FLAGS,
    ...(WITHOUT_FONT ? {} : { env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') } }),
    timeout: PATIENCE_MS,
  });
}

/** What xterm.js says where the processor is busy with other programs. */
const OF_A_SLOW_MACHINE = /^task queue exceeded allotted deadline by \d+ms$/;

/** A page of its own, without the cookies and stores of others. */
export async function visit(browser: Browser, address: string, options: VisitOptions = {}): Promise<Visit> {
  const {
    viewport = { width: 1280, height: 800 },
    scale = 1,
    credentials = CREDENTIALS,
    isAsked = false,
    place,
  } = options;
  const context = await browser.newContext({
    viewport,
    deviceScaleFactor: scale,
    ...place,
    ...(credentials && isAsked && { httpCredentials: { username: credentials.user, password: credentials.password } }),
    ...(credentials && !isAsked && { extraHTTPHeaders: { Authorization: basicHeader(credentials) } }),
  });
  watchRequests(context);
  await fillAsUser(context);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (!OF_A_SLOW_MACHINE.test(message.text()))
      complaints.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  const { host } = new URL(address);
  const foreign = (text: string): void => {
    const url = new URL(text);
    if (/^(https?|wss?):$/.test(url.protocol) && url.host !== host) complaints.push(`request: ${url}`);
  };
  page.on('request', (request) => foreign(request.url()));
  page.on('websocket', (socket) => foreign(socket.url()));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) =>
      reportError(new Error(`policy: ${effectiveDirective} blocks ${blockedURI} (${sourceFile}:${lineNumber})`)),
    );
  });
  await page.goto(address);
  return { page, complaints };
}
