// Cache modes that bypass the host's page cache: not every file system supports them.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DiskCache } from '../../../api/kinds/absent-settings.ts';
import { type Disk, imageOf } from './disks.ts';
import { refusal } from './refusal.ts';
import type { Images, Settings } from './settings.ts';

/** Equivalent modes without direct I/O. */
const INSTEAD: Partial<Record<DiskCache, DiskCache>> = { none: 'writeback', directsync: 'writethrough' };

/** @throws Failure `conflict` (`QemuError`) with the setting, the file and the mode to use instead */
export async function mustAllowDirectIo(disks: readonly Disk[], images: Images, settings: Settings): Promise<void> {
  for (const { drive, path, format } of disks) {
    const member = `${drive}_disk_cache` as const;
    const cache = settings[member];
    const instead = cache && INSTEAD[cache];
    if (!instead) continue;
    // A copy also reads its image. Only the configuration disk, whose format is given, has no image below it.
    const files = format === undefined ? [path, imageOf(images, drive)] : [path];
    for (const file of new Set(files)) {
      if (await allowsDirectIo(file)) continue;
      const why = `${JSON.stringify(cache)} needs direct I/O, which the file system of ${file} does not support`;
      throw refusal(`${member}: ${why}. Use ${JSON.stringify(instead)}.`);
    }
  }
}

async function allowsDirectIo(path: string): Promise<boolean> {
  try {
    await using _file = await open(path, constants.O_RDONLY | constants.O_DIRECT);
    return true;
  } catch (error) {
    // QEMU reports other errors of the file.
    return (error as NodeJS.ErrnoException).code !== 'EINVAL';
  }
}
