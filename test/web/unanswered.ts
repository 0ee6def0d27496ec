// Which requests of a browser got no answer: told when a test has failed, beside what the server knew of them.
import type { TestContext } from 'node:test';
import type { BrowserContext, Request } from 'playwright-core';

/** What took as long had no answer: tests end later than that when they wait in vain, and the server ends before the browser. */
const LONG_MS = 10_000;

interface Watched {
  what: string;
  asked: number;
  /** Of `performance.now()`; undefined while there is no answer. */
  answered?: number;
}

const watched = new WeakMap<BrowserContext, Map<Request, Watched>>();

/** Keeps in mind what the pages of this context ask for. */
export function watchRequests(context: BrowserContext): void {
  const requests = new Map<Request, Watched>();
  watched.set(context, requests);
  context.on('request', (request) =>
    requests.set(request, { what: `${request.method()} ${request.url()}`, asked: performance.now() }),
  );
  const end = (request: Request): void => {
    const one = requests.get(request);
    if (one) one.answered = performance.now();
  };
  context.on('requestfinished', end);
  context.on('requestfailed', end);
}

/** After a failure, a line for each request that had no answer, or a late one. */
export function tellUnanswered(t: TestContext, contexts: readonly BrowserContext[]): void {
  if ((t as { passed?: boolean }).passed) return;
  const lines = contexts.flatMap((context) =>
    [...(watched.get(context)?.values() ?? [])].flatMap(({ what, asked, answered }) => {
      const seconds = ((answered ?? performance.now()) - asked) / 1000;
      return seconds * 1000 < LONG_MS
        ? []
        : [`${what}: ${answered ? 'ended' : 'no answer'} after ${seconds.toFixed(1)} s`];
    }),
  );
  t.diagnostic(`requests of the browser without an answer: ${lines.length}\n${lines.join('\n')}`);
}
