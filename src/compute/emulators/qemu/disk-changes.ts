// What has changed on the disks of a machine since the last time, each in a file of its own: of one moment of a running machine, by the dirty
// bitmaps of QEMU, or of disks at rest.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DRIVES, type Drive } from '../../../api/kinds/qemu.ts';
import { ignore } from '../../../failures.ts';
import { CHUNK_BYTES } from '../../nodes/checkpoint-parts.ts';
import type { DiskChanges } from './disk-chunks.ts';
import type { DiskTool } from './disk-tool.ts';
import { copyOf } from './disks.ts';
import { awaitJob, endJobs } from './machine-state.ts';
import type { Qmp } from './qmp.ts';

const BITMAP = 'labwire-checkpoint';
const JOB = 'labwire-checkpoint-';
/** QEMU's names of the files with the changes; a name has 31 characters at most. */
const TARGET = 'labwire-changes-';

/** The file with the changes of a drive. */
export const changesFile = (directory: string, drive: Drive): string => join(directory, `changes-${drive}`);

interface Inserted {
  image: { filename: string; 'virtual-size': number };
  'dirty-bitmaps'?: { name?: string; count: number }[];
}

interface RunningDisk {
  drive: Drive;
  device: string;
  size: number;
  /** Bytes that have changed; undefined if that is not recorded yet. */
  dirty: number | undefined;
}

/** The node's own disks of a running machine. */
async function disksOf(qmp: Qmp): Promise<RunningDisk[]> {
  const found = (await qmp.run('query-block')) as { device: string; inserted?: Inserted }[];
  return found.flatMap(({ device, inserted }) => {
    const drive = DRIVES.find((one) => inserted && basename(inserted.image.filename) === basename(copyOf('', one)));
    if (!drive || !inserted) return [];
    const bitmap = inserted['dirty-bitmaps']?.find(({ name }) => name === BITMAP);
    return [{ drive, device, size: inserted.image['virtual-size'], dirty: bitmap?.count }];
  });
}

export interface ChangesOptions {
  tool: DiskTool;
  /** Of the files with the changes, which the caller removes. */
  directory: string;
  /** Whether all counts as changed. */
  whole: boolean;
  /** Ends the work: other actions at the node do not wait for it. */
  signal: AbortSignal;
  /** Does something in which the disks have a state that the guest's file systems can begin with. */
  quietly?: ((act: () => Promise<void>) => Promise<void>) | undefined;
}

/** All disks at one moment. Undefined if nothing has changed. */
export async function changesOfRunning(
  qmp: Qmp,
  { tool, directory, whole: wanted, signal, quietly = (act) => act() }: ChangesOptions,
): Promise<DiskChanges | undefined> {
  if (wanted) await endInterrupted(qmp);
  const disks = await disksOf(qmp);
  const whole = wanted || disks.some(({ dirty }) => dirty === undefined);
  const changed = disks.filter(({ dirty }) => whole || dirty !== 0);
  if (changed.length === 0) return undefined;
  const id = randomUUID();
  const backups = changed.map((disk, index) => ({
    ...disk,
    target: `${TARGET}${id.slice(0, 8)}-${index}`,
    job: `${JOB}${id}-${index}`,
    path: changesFile(directory, disk.drive),
  }));
  await using targets = new AsyncDisposableStack();
  for (const { path, size, target } of backups) {
    await rm(path, { force: true });
    await tool.run(['create', '-q', '-f', 'qcow2', '-o', `cluster_size=${CHUNK_BYTES}`, path, String(size)]);
    await qmp.run('blockdev-add', { driver: 'qcow2', 'node-name': target, file: { driver: 'file', filename: path } });
    targets.defer(async () => void (await qmp.run('blockdev-del', { 'node-name': target }).catch(ignore)));
  }
  if (whole)
    for (const { device, dirty } of disks)
      if (dirty !== undefined) await qmp.run('block-dirty-bitmap-remove', { node: device, name: BITMAP });
  const sync = whole ? { sync: 'top' } : { sync: 'incremental', bitmap: BITMAP };
  const actions = backups.flatMap(({ device, job, target }) => {
    const bitmap = { node: device, name: BITMAP, granularity: CHUNK_BYTES };
    const backup = { 'job-id': job, device, target, 'auto-dismiss': false, ...sync };
    return [
      ...(whole ? [{ type: 'block-dirty-bitmap-add', data: bitmap }] : []),
      { type: 'blockdev-backup', data: backup },
    ];
  });
  // A new bitmap cannot be part of a group. Without one, after a failure all is copied again.
  const transaction = { actions, ...(!whole && { properties: { 'completion-mode': 'grouped' } }) };
  await quietly(async () => void (await qmp.run('transaction', transaction)));
  const ends = await Promise.allSettled(backups.map(({ job }) => awaitJob(qmp, job, signal)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return { whole, disks: backups.map(({ drive, path, size }) => ({ drive, path, size })) };
}

/** Ends what a killed server has left. Files that the machine has open take space, though they are deleted. */
async function endInterrupted(qmp: Qmp): Promise<void> {
  await endJobs(qmp, JOB);
  const nodes = (await qmp.run('query-named-block-nodes', { flat: true })) as { 'node-name': string }[];
  for (const { 'node-name': name } of nodes)
    if (name.startsWith(TARGET)) await qmp.run('blockdev-del', { 'node-name': name }).catch(ignore);
}

/** Of a machine that is off, everything. */
export async function changesAtRest(
  disks: readonly { drive: Drive; path: string; image: string; format: string; size: number }[],
  { tool, directory, signal }: Pick<ChangesOptions, 'tool' | 'directory' | 'signal'>,
): Promise<DiskChanges> {
  const changes: DiskChanges = { whole: true, disks: [] };
  for (const { drive, path: disk, image, format, size } of disks) {
    const path = changesFile(directory, drive);
    const formats = ['-f', 'qcow2', '-O', 'qcow2', '-o', `cluster_size=${CHUNK_BYTES}`];
    signal.throwIfAborted();
    await tool.run(['convert', '-q', ...formats, '-B', image, '-F', format, disk, path], [0], { signal });
    changes.disks.push({ drive, path, size });
  }
  return changes;
}
