// Pauses between retries.

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** The pause after this many failures, in milliseconds; it doubles each time. */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}

/** Resolves after this time, or as soon as the network is back. */
export function rested(milliseconds: number): Promise<void> {
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
