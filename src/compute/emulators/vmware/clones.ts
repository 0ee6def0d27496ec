// Chooses a node's VMware machine: an existing one that no other node uses, or a linked clone of its own.
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { parsePairs, readPairs, writePairs } from './files.ts';
import { refusal, type Vmrun } from './vmrun.ts';

const BASE_SNAPSHOT = 'GNS3 Linked Base for clones';

const isThere = (path: string): Promise<boolean> => stat(path).then(Boolean, () => false);

/**
 * The path of the clone's machine, created if missing.
 * @throws Failure `conflict` (`VMwareError`)
 */
export async function linkedClone(
  vmrun: Vmrun,
  base: string,
  { name, directory }: { name: string; directory: string },
): Promise<string> {
  if (vmrun.hostType === 'player') throw refusal('linked_clone: VMware Player has no linked clones; use Workstation.');
  const former = join(directory, basename(base));
  if (await isThere(former)) return former;
  const snapshots = base.replace(/\.vmx$/, '.vmsd');
  if (!(await isThere(snapshots))) throw refusal(`${snapshots} is missing: open the machine in VMware once.`);
  if (![...(await readPairs(snapshots)).values()].includes(BASE_SNAPSHOT))
    await vmrun.run('snapshot', base, BASE_SNAPSHOT);
  const clone = join(directory, `${name}.vmx`);
  await vmrun.run('clone', base, clone, 'linked', `-snapshot=${BASE_SNAPSHOT}`, `-cloneName=${name}`);
  await forgetClone(snapshots);
  return clone;
}

/** Removes the clone from the base's records: VMware does not allow changes to a base with clones. */
async function forgetClone(path: string): Promise<void> {
  const pairs = await readPairs(path);
  const snapshot = [...pairs].find(([, value]) => value === BASE_SNAPSHOT)?.[0].replace(/\.displayname$/, '');
  const clones = Number(snapshot && pairs.get(`${snapshot}.numclones`));
  if (snapshot === undefined || !(clones > 0)) return;
  pairs.set(`${snapshot}.numclones`, `${clones - 1}`);
  for (const key of [...pairs.keys()]) if (key.startsWith(`${snapshot}.clone`)) pairs.delete(key);
  await writePairs(path, pairs);
}

/** Removes a deleted node's clone from VMware's list. */
export async function leaveInventory(path: string): Promise<void> {
  const inventory = join(homedir(), '.vmware', 'inventory.vmls');
  const pairs = parsePairs(await readFile(inventory).catch(() => Buffer.alloc(0)));
  const entries = [...pairs].flatMap(([key, value]) => (value === path ? (/^vmlist\d+\./.exec(key)?.[0] ?? []) : []));
  if (entries.length === 0) return;
  for (const key of [...pairs.keys()]) if (entries.some((entry) => key.startsWith(entry))) pairs.delete(key);
  await writePairs(inventory, pairs);
}
