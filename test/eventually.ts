// Waiting in tests for what has no event.
import { setTimeout as sleep } from 'node:timers/promises';

const LEAST_MS = 5;
const MOST_MS = 100;
/** Pause between two questions, as a share of the time waited so far: questions take the processor from the awaited work. */
const PAUSE_SHARE = 0.1;

/** Asks again and again until the answer fits, and returns it. @param what awaited; a function for a text made at the end */
export async function eventually<T>(
  what: string | (() => string),
  ask: () => T | Promise<T>,
  fits: (answer: T) => boolean = Boolean,
  milliseconds = 60_000,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    const waited = performance.now() - start;
    if (waited > milliseconds) {
      const named = typeof what === 'string' ? `${what}; last: ${JSON.stringify(answer)}` : what();
      throw new Error(`waited ${milliseconds} ms for ${named}`);
    }
    await sleep(Math.min(MOST_MS, LEAST_MS + waited * PAUSE_SHARE));
  }
}
