// Runs a task for many items with limited concurrency.

/** Runs `task` for every item in order, at most `atOnce` at the same time. Stops at the first failure. */
export async function eachOf<T>(items: readonly T[], atOnce: number, task: (item: T) => Promise<void>): Promise<void> {
  // Where one worker fails, a generator, unlike an array's iterator, ends for all.
  const queue = (function* () {
    yield* items;
  })();
  const worker = async (): Promise<void> => {
    for (const item of queue) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
