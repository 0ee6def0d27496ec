// Parts of the page that are loaded when they are shown first: what is done when one does not come.
import { signal } from '@preact/signals';
import { pauseAfter, rested } from './rested.ts';
import { compareVersion, isOutdated } from './version.ts';

/** How many parts wait for a server that does not answer. */
export const awaitedParts = signal(0);

/**
 * Loads a part. While the server does not answer it is tried again until it does. Never answers when the server has another page than this one,
 * or the part cannot be had from a server that answers: then the page offers to load itself again.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  let answers = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await load();
    } catch {
      const server = await compareVersion();
      if (server === 'same') answers += 1;
      // The connection may have come back between the two questions, but not twice.
      if (server === 'other' || answers > 1) {
        isOutdated.value = true;
        return new Promise(() => {});
      }
      if (server === 'same') continue;
    }
    awaitedParts.value += 1;
    await rested(pauseAfter(failures));
    awaitedParts.value -= 1;
  }
}
