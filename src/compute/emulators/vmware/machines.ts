// VMware's machines on this host, and its networks.
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { interfaceNames } from '../../../host/network/interfaces.ts';
import { type Pairs, parsePairs } from './files.ts';
import { refusal, type Vmrun } from './vmrun.ts';

export interface MachineEntry {
  vmname: string;
  vmx_path: string;
}

/** VMware's own networks: bridged, host-only, NAT. */
const OWN = [0, 1, 8];

async function pairsAt(...path: string[]): Promise<Pairs> {
  return parsePairs(await readFile(join(...path)).catch(() => Buffer.alloc(0)));
}

/** From the inventory, which Player does not have; otherwise from VMware's default folders. */
export async function machines(vmrun: Vmrun): Promise<MachineEntry[]> {
  const own = join(homedir(), '.vmware');
  if (vmrun.hostType !== 'player') {
    const inventory = machinesOf(await pairsAt(own, 'inventory.vmls'));
    if (inventory.length > 0) return inventory;
  }
  const preferred = (await pairsAt(own, 'preferences')).get('prefvmx.defaultvmpath');
  return machinesBelow(preferred || join(homedir(), 'vmware'));
}

/** Machines in the `vmlist<n>` members. */
function machinesOf(inventory: Pairs): MachineEntry[] {
  const found: MachineEntry[] = [];
  for (const [key, vmx_path] of inventory) {
    const [, entry] = /^(vmlist\d+)\.config$/.exec(key) ?? [];
    const vmname = entry && inventory.get(`${entry}.displayname`);
    if (vmname && vmx_path?.endsWith('.vmx')) found.push({ vmname, vmx_path });
  }
  return found;
}

async function machinesBelow(directory: string): Promise<MachineEntry[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.vmx'));
  const found: MachineEntry[] = [];
  for (const { parentPath, name } of paths) {
    const vmx_path = join(parentPath, name);
    const vmname = (await pairsAt(vmx_path)).get('displayname');
    if (vmname) found.push({ vmname, vmx_path });
  }
  return found;
}

/** Networks that nodes may use: those of the host, without VMware's own, within the configured range. */
export function vmnets(names: readonly string[], first: number, last: number): string[] {
  const numbers = names.flatMap((name) => /^vmnet(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  return numbers
    .filter((number) => !OWN.includes(number) && number >= first && number <= last)
    .sort((one, other) => one - other)
    .map((number) => `vmnet${number}`);
}

/** @throws Failure `conflict` (`VMwareError`) if all are in use */
export function freeVmnet(used: ReadonlySet<string>, first: number, last: number): string {
  const free = vmnets(interfaceNames([]), first, last).find((name) => !used.has(name));
  if (free !== undefined) return free;
  throw refusal(`There is no vmnet interface left between ${first} and ${last}: add one with VMware's vmnetcfg.`);
}

/**
 * A network that VMware has configured with a host adapter, and no node uses.
 * @throws Failure `conflict` (`VMwareError`)
 */
export async function allocateVmnet(used: ReadonlySet<string>, first: number, last: number): Promise<string> {
  const text = await readFile('/etc/vmware/networking', 'utf8').catch((cause: unknown) => {
    throw refusal('VMware has no networks on this host: /etc/vmware/networking cannot be read; install VMware.', cause);
  });
  const names = [...text.matchAll(/VNET_(\d+)_VIRTUAL_ADAPTER/g)].map(([, number]) => `vmnet${number}`);
  const free = vmnets([...new Set(names)], first, last).find((name) => !used.has(name));
  if (free === undefined) {
    throw refusal(`No network between vmnet${first} and vmnet${last} is left: add one with VMware's vmnetcfg.`);
  }
  return free;
}
