// Runs a task for many items with limited concurrency.

/** Runs `task` for every item in order, at most `atOnce` at the same time. Stops at the first failure. */
export async function eachOf<T>(items: readonly T[], atOnce: number, task: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  let isFailed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (isFailed) return;
      try {
        await task(item);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
