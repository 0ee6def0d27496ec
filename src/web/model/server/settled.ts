// Requests for many objects.

/** A browser sends six requests to a host at a time. Starting hundreds at once would stop the page for half a second. */
const AT_ONCE = 12;

/** Results of the task for each item, in their order, as `Promise.allSettled` gives them. */
export async function settled<T, R>(
  items: readonly T[],
  task: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) results[at] = (await Promise.allSettled([task(item)]))[0];
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/** @throws the first error */
export function valuesOf<R>(results: readonly PromiseSettledResult<R>[]): R[] {
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
