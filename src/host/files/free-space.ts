// The space that is free on a file system, and what of it stays free when the server fills it by itself.
import { statfs } from 'node:fs/promises';

/** Disks of nodes grow while they run, and seldom to their full size: this much is enough for a while. */
export const ENOUGH_BYTES = 512 * 2 ** 20;
/** Of a small file system. */
const LEAST_SHARE = 1 / 10;

export async function freeSpace(directory: string): Promise<{ bytes: number; reserveBytes: number; share: number }> {
  const { bavail, blocks, bsize } = await statfs(directory);
  const reserveBytes = Math.min(ENOUGH_BYTES, Math.floor(blocks * bsize * LEAST_SHARE));
  return { bytes: bavail * bsize, reserveBytes, share: bavail / blocks };
}
