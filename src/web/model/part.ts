// Parts of the page that are loaded when they are shown first: what is done when one does not come.
import { signal } from '@preact/signals';
import { compareVersion, isOutdated } from './version.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** How many parts wait for a server that does not answer. */
export const awaitedParts = signal(0);

/**
 * Loads a part. While the server does not answer it is tried again until it does. Never answers when the server has another page than this one,
 * or the part cannot be had from a server that answers: then the page offers to load itself again.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  let answers = 0;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
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
    await rested(pause);
    awaitedParts.value -= 1;
  }
}

/** After this time, or as soon as the network is back. */
function rested(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      globalThis.removeEventListener?.('online', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    globalThis.addEventListener?.('online', done);
  });
}
