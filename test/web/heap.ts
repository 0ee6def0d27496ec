// The memory of a page: what is sent and received through it must not stay in it.
import type { Page } from 'playwright-core';

export const MIBIBYTE = 1024 * 1024;

/** Bytes by which the heap of the page may grow, however large what it sends is. */
export const HEAP_GROWTH = 20 * MIBIBYTE;

/** Bytes in use, without what nobody refers to any more. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
