// Linked clones of VirtualBox machines: each is registered while its node exists, and lies in the node's directory.
import { stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../../../failures.ts';
import { writeContained } from '../../../host/files/contained-files.ts';
import { log } from '../../../host/log.ts';
import { readText } from '../../nodes/files.ts';
import type { CloneOwner } from '../../nodes/machines/machine-node.ts';
import type { VBoxManage } from './manage.ts';

const BASE_SNAPSHOT = 'GNS3 Linked Base for clones';
const SNAPSHOTS = 'Snapshots';
const DISKS_FILE = 'hdd_info.json';

/** Disks of a clone, and their attachments. */
const Disks = v.array(
  v.object({
    /** Name of the file, in the folder of the clone's snapshots. */
    hdd: v.string(),
    controller: v.string(),
    port: v.union([v.string(), v.number()]),
    device: v.union([v.string(), v.number()]),
  }),
);
type Disk = v.InferOutput<typeof Disks>[number];

/** Creates a clone in the node's directory, or registers an existing one again. Returns its name. */
export async function linkedClone(manage: VBoxManage, base: string, owner: CloneOwner): Promise<string> {
  const { name, directory } = owner;
  const file = join(directory, base, `${base}.vbox`);
  if (await stat(file).catch(() => undefined)) {
    // A previous run of the server that crashed left it registered.
    if (await isRegistered(manage, base, file)) return base;
    await manage.run('registervm', file);
    await attachDisks(manage, base, owner);
    return base;
  }
  const { uuid, snapshots } = await baseOf(manage, base);
  if (!snapshots.includes(BASE_SNAPSHOT)) await manage.run('snapshot', uuid, 'take', BASE_SNAPSHOT);
  await manage.run(
    ...['clonevm', uuid, '--snapshot', BASE_SNAPSHOT, '--options', 'link'],
    ...['--name', name, '--basefolder', directory, '--register'],
  );
  await manage.run('setextradata', name, 'GNS3/Clone', 'yes');
  await manage.run('snapshot', name, 'take', 'reset').catch(() => {});
  return name;
}

/** Unregisters the clone from VirtualBox. Its files stay, with a note of its disks' attachments. */
export async function releaseClone(
  manage: VBoxManage,
  { uuid, vmname }: { uuid: string; vmname: string },
  owner: CloneOwner,
): Promise<void> {
  const disks = attachedDisks(await manage.info(uuid), join(owner.directory, vmname, SNAPSHOTS));
  const text = JSON.stringify(disks, null, 4);
  await writeContained(owner.project.path, disksFile(owner, vmname), text, { createParents: false }).catch(
    (error: unknown) => {
      log.warn('where the disks of a linked clone belong is not noted', { node: owner.id, reason: messageOf(error) });
    },
  );
  for (const disk of disks) await attach(manage, uuid, disk, 'none', owner);
  await manage.run('unregistervm', vmname);
  await forgetDisks(manage, `${owner.project.path}${sep}`);
}

const disksFile = ({ relativeDirectory }: CloneOwner, vmname: string) => `${relativeDirectory}/${vmname}/${DISKS_FILE}`;

async function baseOf(manage: VBoxManage, base: string): Promise<{ uuid: string; snapshots: string[] }> {
  const info = await manage.info(base);
  const snapshots = [...info].flatMap(([key, value]) => (key.startsWith('SnapshotName') ? [value] : []));
  return { uuid: info.get('UUID') ?? base, snapshots };
}

async function isRegistered(manage: VBoxManage, name: string, file: string): Promise<boolean> {
  const info = await manage.info(name).catch(() => undefined);
  return info?.get('CfgFile') === file;
}

/** A machine's disks in the folder; `<controller>-<port>-<device>` names the file of each. */
function attachedDisks(info: ReadonlyMap<string, string>, folder: string): Disk[] {
  return [...info].flatMap(([key, path]) => {
    const [, controller, port, device] = /^(.+)-(\d+)-(\d+)$/.exec(key) ?? [];
    if (controller === undefined || port === undefined || device === undefined || dirname(path) !== folder) return [];
    return [{ hdd: basename(path), controller, port, device }];
  });
}

async function attachDisks(manage: VBoxManage, vmname: string, owner: CloneOwner): Promise<void> {
  const text = (await readText(owner.project.path, disksFile(owner, vmname))) ?? '[]';
  const { success, output: disks } = v.safeParse(v.pipe(v.string(), v.parseJson(), Disks), text);
  if (!success) {
    log.warn('where the disks of a linked clone belong cannot be read', { node: owner.id, file: DISKS_FILE });
    return;
  }
  if (disks.length === 0) return;
  const uuid = (await manage.info(vmname)).get('UUID') ?? vmname;
  for (const disk of disks) {
    await attach(manage, uuid, disk, join(owner.directory, vmname, SNAPSHOTS, basename(disk.hdd)), owner);
  }
}

/** @param medium path of the disk; `none` detaches the present one */
async function attach(
  manage: VBoxManage,
  uuid: string,
  { controller, port, device }: Disk,
  medium: string,
  { id }: CloneOwner,
): Promise<void> {
  const place = ['--storagectl', controller, '--port', `${port}`, '--device', `${device}`];
  const type = medium === 'none' ? [] : ['--type', 'hdd'];
  try {
    await manage.run('storageattach', uuid, ...place, ...type, '--medium', medium);
  } catch (error) {
    log.warn('a disk of a linked clone is not attached as it was', { node: id, medium, reason: messageOf(error) });
  }
}

/**
 * VirtualBox keeps disks registered whose files were deleted with their nodes. Base disks of others are removed last.
 */
async function forgetDisks(manage: VBoxManage, folder: string): Promise<void> {
  const all = await manage.run('list', 'hdds').catch(() => '');
  const disks = all.split(/\r?\n\s*\r?\n/).map(diskOf);
  for (const { state, location } of disks.reverse()) {
    if (state !== 'inaccessible' || !location?.startsWith(folder)) continue;
    await manage.run('closemedium', 'disk', location).catch((error: unknown) => {
      log.warn('VirtualBox keeps a disk in mind that is gone', { location, reason: messageOf(error) });
    });
  }
}

function diskOf(text: string): { state?: string; location?: string } {
  const [, state] = /^State: *(\S+)/m.exec(text) ?? [];
  const [, location] = /^Location: *(.*\S)/m.exec(text) ?? [];
  return { ...(state === undefined ? {} : { state }), ...(location === undefined ? {} : { location }) };
}
