// Loads parts of the page on first use, and handles failures.
import { signal } from '@preact/signals';
import { pauseAfter, rested } from './backoff.ts';
import { compareVersion, isOutdated } from './page-version.ts';

/** After this many failures on a reachable server the part is missing. Fewer may be a changing network. */
const MOST_FAILURES = 4;

/** Number of parts waiting for an unreachable server. */
export const awaitedParts = signal(0);

/**
 * Loads a part. Network failures are retried until the server answers. The promise stays pending if the server has another page than this one,
 * or answers but does not have the part: then the page offers to reload itself.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  let answers = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await load();
    } catch {
      const server = await compareVersion();
      if (server === 'same') answers += 1;
      if (server === 'other' || answers >= MOST_FAILURES) {
        isOutdated.value = true;
        return new Promise(() => {});
      }
    }
    awaitedParts.value += 1;
    await rested(pauseAfter(failures));
    awaitedParts.value -= 1;
  }
}
