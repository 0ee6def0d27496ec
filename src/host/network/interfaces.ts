// The network interfaces of this host as the API tells them (as in release 2.2.57).
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { networkInterfaces as addressesByInterface } from 'node:os';

export interface NetworkInterface {
  id: string;
  name: string;
  /** IPv4; empty if there is none. */
  ip_address: string;
  /** Dotted; empty if there is no address. */
  netmask: string;
  mac_address: string;
  type: 'ethernet' | 'tap';
  /** Made by the host or a hypervisor for itself: not offered to users unless they ask. */
  special: boolean;
}

const CLASS_DIRECTORY = '/sys/class/net';

/** The release's list of beginnings of such names, in lower case. */
const SPECIAL_BEGINNINGS = [
  'lo',
  'vmnet',
  'vboxnet',
  'docker',
  'lxcbr',
  'virbr',
  'ovs-system',
  'veth',
  'fw',
  'p2p',
  'bridge',
  'vmware',
  'virtualbox',
  'gns3',
];

/** The release takes these last characters for the mark of a helper interface, too. */
const SPECIAL_ENDINGS = ['-', 'n', 'i', 'c'];

export function isSpecialInterface(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    SPECIAL_BEGINNINGS.some((beginning) => lower.startsWith(beginning)) ||
    SPECIAL_ENDINGS.some((ending) => lower.endsWith(ending))
  );
}

export function interfaceType(name: string): 'ethernet' | 'tap' {
  return name.startsWith('tap') ? 'tap' : 'ethernet';
}

/** The interface of a guest's adapter, by a word that no other machine has. */
export function guestTapName(machine: string, adapter: number): string {
  return `lw${machine}-${adapter}`;
}

const GUEST_TAP = /^lw[0-9a-f]{8}-\d+$/;

/**
 * Whether people may use the interface: `allowed`, if not empty, names those that they may (`gns3tap...` always passes). Those of guests
 * are nobody else's.
 */
export function isAllowedInterface(name: string, allowed: readonly string[]): boolean {
  if (GUEST_TAP.test(name)) return false;
  return allowed.length === 0 || allowed.includes(name) || name.startsWith('gns3tap');
}

/** The names of all interfaces that are allowed, with and without addresses, sorted. */
export function interfaceNames(allowed: readonly string[]): string[] {
  // Interfaces without an address are only found in /sys; where that is missing, the others are still told.
  const names = new Set([...Object.keys(addressesByInterface()), ...directoryNames()]);
  const offered = [...names].filter((name) => isAllowedInterface(name, allowed));
  return offered.sort((a, b) => (a < b ? -1 : 1));
}

/** Read at once: the kernel makes the directory up, no disk is asked. */
function directoryNames(): string[] {
  try {
    const entries = readdirSync(CLASS_DIRECTORY, { withFileTypes: true });
    return entries.filter((entry) => !entry.isFile()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** All interfaces, with and without addresses, sorted by name; `allowed`, if not empty, restricts them. */
export async function networkInterfaces(allowed: readonly string[]): Promise<NetworkInterface[]> {
  const addresses = addressesByInterface();
  return Promise.all(
    interfaceNames(allowed).map(async (name) => {
      const address = addresses[name]?.find(({ family }) => family === 'IPv4');
      return {
        id: name,
        name,
        ip_address: address?.address ?? '',
        netmask: address?.netmask ?? '',
        mac_address: addresses[name]?.[0]?.mac ?? (await hardwareAddress(name)),
        type: interfaceType(name),
        special: isSpecialInterface(name),
      };
    }),
  );
}

async function hardwareAddress(name: string): Promise<string> {
  return (await readFile(`${CLASS_DIRECTORY}/${name}/address`, 'utf8').catch(() => '')).trim();
}
