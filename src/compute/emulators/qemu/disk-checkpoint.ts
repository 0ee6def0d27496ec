// Copies of a node's disks for another host, taken while its machine runs or is off, and disks made of such a copy.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DISK_CHECKPOINT, LARGEST_DISKS_BYTES, RESTORED_DISKS } from '../../../api/disk-checkpoint.ts';
import { DRIVES, type Drive } from '../../../api/kinds/qemu.ts';
import { messageOf, outOfSpace } from '../../../failures.ts';
import { HeldNames } from '../../../host/files/held-names.ts';
import { DamagedCopy, TooMuch } from '../../nodes/checkpoint-parts.ts';
import { type ChangesOptions, changesAtRest, changesFile, changesOfRunning } from './disk-changes.ts';
import { DiskChunks } from './disk-chunks.ts';
import { mustHoldBytes } from './disk-space.ts';
import type { DiskTool } from './disk-tool.ts';
import { copyOf, type DiskOptions, imageOf, judge, mustHoldItsData, prepareCopy } from './disks.ts';
import { contentOf } from './known-disks.ts';
import { readQcow2 } from './qcow2.ts';
import type { Qmp } from './qmp.ts';
import type { Images } from './settings.ts';

export interface CheckpointOptions {
  /** The node's directory. */
  directory: string;
  tool: DiskTool;
  images: Images;
  /** Of a machine that runs. */
  qmp: Qmp | undefined;
  quietly?: ChangesOptions['quietly'];
  /** Ends the work: the next copy has everything. */
  signal: AbortSignal;
}

/** @throws Failure `out-of-space` if the disks have more than is kept, or the host has no space for it, `conflict` (`QemuError`) */
export async function takeCheckpoint({
  directory,
  tool,
  images,
  qmp,
  quietly,
  signal,
}: CheckpointOptions): Promise<void> {
  const disks = await ownDisks(directory, images);
  if (disks.length === 0) return;
  const chunks = new DiskChunks(join(directory, DISK_CHECKPOINT));
  const before = await chunks.manifest();
  const of = (await Promise.all(disks.map(({ path }) => contentOf(path)))).join('\n');
  if (!qmp && before?.of === of) return;
  const allocated = disks.reduce((bytes, disk) => bytes + disk.allocated, 0);
  // Compressed, it may be less; what was too much before is not copied again to find out.
  if (allocated > Math.min(2 * LARGEST_DISKS_BYTES, (await chunks.tooMuch()) - 1))
    throw new TooMuch(`its disks have changed by ${Math.ceil(allocated / 2 ** 20)} MiB`);
  // On a full disk QEMU would halt the guest, which writes while it is copied.
  await mustHoldBytes(2 * allocated, [directory]).catch((thrown: unknown) => {
    throw outOfSpace(`a copy of its disks: ${messageOf(thrown)}`, { cause: thrown });
  });
  await chunks.begin();
  const into = { tool, directory: chunks.directory, signal };
  using held = new HeldNames();
  for (const { drive } of disks) await held.hold(changesFile(chunks.directory, drive));
  try {
    const changes = qmp
      ? await changesOfRunning(qmp, { ...into, quietly, whole: before === undefined })
      : await changesAtRest(await withFormats(disks, tool, held), into);
    if (changes === undefined) return before && (await chunks.unchanged(before));
    await chunks.add(before, changes, { tool, signal, ...(!qmp && { of }) });
  } catch (error) {
    if (error instanceof TooMuch) await chunks.noteTooMuch(allocated);
    throw error;
  } finally {
    for (const drive of DRIVES) await rm(changesFile(chunks.directory, drive), { force: true });
  }
}

/**
 * Makes the disks of a copy that came with the node. Without one disks stay as they are; of a damaged one they are new.
 * @throws Failure with another reason; the copy stays for the next start
 */
export async function restoreDisks(images: Images, options: DiskOptions): Promise<void> {
  const { directory, tool, linked, warn } = options;
  if (!linked) return;
  const chunks = new DiskChunks(join(directory, RESTORED_DISKS));
  const manifest = await chunks.arrived('the copy of its disks', warn);
  if (!manifest) return;
  const scratch = await mkdtemp(join(tmpdir(), 'labwire-disks-'));
  try {
    for (const drive of DRIVES) {
      const image = imageOf(images, drive);
      if (image === '' || !manifest.disks[drive]) continue;
      await rm(copyOf(directory, drive), { force: true });
      await chunks.apply(drive, await prepareCopy(drive, image, options), tool, scratch);
    }
  } catch (error) {
    for (const drive of DRIVES) if (manifest.disks[drive]) await rm(copyOf(directory, drive), { force: true });
    if (!(error instanceof DamagedCopy)) throw error;
    warn(`its disks are new ones, as their copy cannot be used: ${messageOf(error)}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  await chunks.discard();
}

async function ownDisks(directory: string, images: Images) {
  const disks: { drive: Drive; path: string; image: string; allocated: number }[] = [];
  for (const drive of DRIVES) {
    const [path, image] = [copyOf(directory, drive), imageOf(images, drive)];
    const found = image === '' ? undefined : await stat(path).catch(() => undefined);
    if (found?.isFile()) disks.push({ drive, path, image, allocated: found.blocks * 512 });
  }
  return disks;
}

async function withFormats(disks: Awaited<ReturnType<typeof ownDisks>>, tool: DiskTool, held: HeldNames) {
  return Promise.all(
    disks.map(async (disk) => {
      await judge(disk.drive, disk.image, held);
      await held.hold(disk.path);
      await mustHoldItsData(disk.drive, disk.path, disk.image);
      const { format } = await tool.describe(disk.image);
      return { ...disk, format, size: (await readQcow2(disk.path))?.size ?? 0 };
    }),
  );
}
