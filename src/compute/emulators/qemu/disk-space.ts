// Checks the disk space of a machine before it starts.
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ENOUGH_BYTES, freeSpace } from '../../../host/files/free-space.ts';
import type { Disk } from './disks.ts';
import { readQcow2 } from './qcow2.ts';
import type { MachineOwner } from './qemu-host.ts';
import { refusal } from './refusal.ts';
import type { Settings } from './settings.ts';

const MEBIBYTE = 1024 * 1024;
/** New copies of disks, firmware variables, configuration disk, logs. */
const START_BYTES = 4 * MEBIBYTE;

/** @throws Failure `conflict` (`QemuError`) if there is not enough space to start */
export async function mustHaveSpace({ name, directory }: MachineOwner): Promise<void> {
  const free = (await freeSpace(directory)).bytes;
  if (free >= START_BYTES) return;
  const message = `${name} needs ${mebibytes(START_BYTES)} MB in ${directory} to start, but only ${mebibytes(free)} MB are free; make room.`;
  throw refusal(message);
}

/** Only warns: a machine that runs out of space is halted until there is some. */
export async function warnOfSpace(
  disks: readonly Disk[],
  { on_close, ram }: Settings,
  warn: (message: string) => void,
): Promise<void> {
  const growth = new Map<string, number>();
  for (const { path } of disks) growth.set(dirname(path), (growth.get(dirname(path)) ?? 0) + (await growthOf(path)));
  for (const [directory, disk] of growth) {
    const saved = on_close === 'save_vm_state' ? ram * MEBIBYTE : 0;
    const free = (await freeSpace(directory)).bytes;
    if (free >= Math.min(disk, ENOUGH_BYTES) + saved) continue;
    const state = saved > 0 ? `, and its saved state takes up to ${ram} MB` : '';
    warn(
      `its disks may grow by ${mebibytes(disk)} MB${state}, but only ${mebibytes(free)} MB are free in ${directory}.`,
    );
  }
}

/**
 * @param bytes the most that a machine's memory may take on the disk
 * @throws Error with the figures if one of the directories has less
 */
export async function mustHoldBytes(bytes: number, directories: Iterable<string>): Promise<void> {
  for (const directory of directories) {
    const free = (await freeSpace(directory)).bytes;
    if (free >= bytes) continue;
    throw new Error(
      `it may take ${mebibytes(bytes)} MB in ${directory}, but only ${mebibytes(free)} MB are free; make room`,
    );
  }
}

/** The space that a qcow2 disk can still grow by; 0 for other formats. */
async function growthOf(path: string): Promise<number> {
  const header = await readQcow2(path);
  if (!header) return 0;
  const { blocks } = await lstat(path);
  return Math.max(0, header.size - blocks * 512);
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / MEBIBYTE);
}
