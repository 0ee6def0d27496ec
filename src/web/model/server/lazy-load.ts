// Parts of the page that are loaded when they are shown first: what is done when one does not come.
import { signal } from '@preact/signals';
import { pauseAfter, rested } from './backoff.ts';
import { compareVersion, isOutdated } from './page-version.ts';

/** Failures to load a part from a server that answers, after which it does not have the part. Fewer may be a network that changes. */
const MOST_FAILURES = 4;

/** How many parts wait for a server that does not answer. */
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
