// The tests of the page in Firefox: `LABWIRE_BROWSER=firefox`. It is a stock one, driven by WebDriver BiDi.
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, firefox, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

export const IS_FIREFOX = process.env['LABWIRE_BROWSER'] === 'firefox';

/** Where it is; undefined if there is none. */
export const FIREFOX = process.env['LABWIRE_FIREFOX'] ?? PLACES.find((path) => existsSync(path));

/** What Playwright tells each new page and Firefox does not know yet: dark and forced colours cannot be asked for. */
const UNKNOWN = 'emulation.setMediaFeaturesOverride';

interface Session {
  sessionId: string;
  send(method: string, parameters: unknown): Promise<unknown>;
  emit(name: string, event: unknown): boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the half of Playwright that speaks to the browser has no types
const within = (object: any): any => object._connection.toImpl(object);

export async function launchFirefox(timeout: number): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    ...(FIREFOX === undefined ? {} : { executablePath: FIREFOX }),
    timeout,
  });
  const sessions: Session = Object.getPrototypeOf(within(browser)._browserSession);
  const { send, emit } = sessions;
  sessions.send = function (this: Session, method, parameters) {
    return method === UNKNOWN ? Promise.resolve({}) : send.call(this, method, parameters);
  };
  // Playwright knows a download by its navigation, and one of a link with `download` has none.
  sessions.emit = function (this: Session, name, event) {
    const begun = event as { navigation?: string | null; url: string };
    if (name.startsWith('browsingContext.download')) begun.navigation ??= begun.url;
    return emit.call(this, name, event);
  };
  return browser;
}

/**
 * Lets Playwright fill in fields as a user does. In Firefox it sets their `value` by a script: no `change` follows, and in a field of
 * numbers the text is appended.
 */
export async function fillAsUser(context: BrowserContext): Promise<void> {
  if (!IS_FIREFOX) return;
  await context.addInitScript(() => {
    const insert = (text: string): void => void document.execCommand('insertText', false, text);
    Object.defineProperty(globalThis, '__pw_bidiInsertText', { get: () => insert, set: () => {} });
  });
}

/** Firefox counts clicks within one set of actions, and Playwright sends five. */
export async function doubleClick(page: Page, x: number, y: number): Promise<void> {
  if (!IS_FIREFOX) return page.mouse.dblclick(x, y);
  const session: Session = within(page).delegate._session;
  const click = [
    { type: 'pointerDown', button: 0 },
    { type: 'pointerUp', button: 0 },
  ];
  const move = { type: 'pointerMove', x: Math.round(x), y: Math.round(y) };
  const actions = [{ type: 'pointer', id: 'double', actions: [move, ...click, ...click] }];
  await session.send('input.performActions', { context: session.sessionId, actions });
}
