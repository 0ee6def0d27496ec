// Other things in the place of the server's answers: what it answers when it refuses, a connection that breaks off, and nothing at all.
import type { Page } from 'playwright-core';
import { until } from '../controller/lab-server.ts';

/** What comes in the place of an answer. */
export const STATUSES = [401, 403, 409, 413, 429, 500, 507] as const;
export const OUTCOMES = [...STATUSES, 'reset', 'never'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const sentenceOf = (outcome: Outcome): string =>
  outcome === 'reset'
    ? 'The server does not answer.'
    : outcome === 'never'
      ? 'The server has not answered. The change may have been made all the same.'
      : `sentence ${outcome}`;

let turn = 0;
/** Another one each time. `isLong`: nobody is told that there is no answer yet. */
export function nextOutcome(isLong = false): Outcome {
  turn += 1;
  const outcome = OUTCOMES[(turn * 2) % OUTCOMES.length]!;
  return isLong && outcome === 'never' ? nextOutcome() : outcome;
}

/** The requests of a page that are not answered as the server would. */
export class Refusing {
  /** Requests that got something else. */
  count = 0;
  readonly #page: Page;
  #refused: { request: RegExp; outcome: Outcome } | undefined;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** The page's clock is the test's from then on. */
  static async of(page: Page): Promise<Refusing> {
    const refusing = new Refusing(page);
    await page.clock.install();
    await page.route(/\/v2\//, (route) => {
      const { pathname } = new URL(route.request().url());
      if (!refusing.#refused?.request.test(`${route.request().method()} ${pathname}`)) return route.continue();
      const { outcome } = refusing.#refused;
      refusing.count += 1;
      if (outcome === 'never') return;
      if (outcome === 'reset') return route.abort('connectionreset');
      return route.fulfill({ status: outcome, json: { status: outcome, message: sentenceOf(outcome) } });
    });
    return refusing;
  }

  /** From now on, `request` being method and path. */
  begin(request: RegExp, outcome: Outcome): void {
    this.#refused = { request, outcome };
    this.count = 0;
  }

  /** Everything gets its answer again. */
  end(): void {
    this.#refused = undefined;
  }

  /** Another screen, without loading the page anew. */
  async go(path: string): Promise<void> {
    await this.#page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
    }, path);
  }

  /** Lets the time pass after which the page says that there is no answer, and gives up. */
  async stopWaiting(what: string): Promise<void> {
    await until(() => this.count > 0, what);
    await this.#page.clock.fastForward(10_001);
    await this.giveUp(30_000);
  }

  /** Stops waiting for an answer, if the page offers that. */
  async giveUp(timeout?: number): Promise<void> {
    // In a window upon the page, if there is one: it comes last.
    const button = this.#page.getByRole('button', { name: 'Stop waiting', exact: true }).last();
    if (timeout !== undefined || (await button.isVisible())) await button.click({ timeout: timeout ?? 10_000 });
  }
}
