// The network interfaces of this host as the API lists them (as in release 2.2.57).
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { networkInterfaces as addressesByInterface } from 'node:os';

export interface NetworkInterface {
  id: string;
  name: string;
  /** IPv4; empty without an address. */
  ip_address: string;
  /** Dotted; empty without an address. */
  netmask: string;
  mac_address: string;
  type: 'ethernet' | 'tap';
  /** Created by the host or a hypervisor for its own use: offered to users only on request. */
  special: boolean;
}

const CLASS_DIRECTORY = '/sys/class/net';

/** The release's list of prefixes of such names, in lower case. */
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

/** The release treats these last characters as the mark of a helper interface, too. */
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

/** Name of the interface of a guest's adapter, from a string unique to the machine. */
export function guestTapName(machine: string, adapter: number): string {
  return `lw${machine}-${adapter}`;
}

/** Name of the fabric's own interface beside a node's, from a random string of 8 hexadecimal digits. */
export function relayName(random: string): string {
  return `lwr${random}-0`;
}

/** Name of the end of a bridge's pair among nodes' interfaces, from 8 hexadecimal digits of its own. */
export function bridgePairName(own: string): string {
  return `lwb${own}-0`;
}

export function isBridgePair(name: string): boolean {
  return /^lwb[0-9a-f]{8}-0$/.test(name);
}

/** 8 hexadecimal digits for the name of an interface. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Name of a link's interface to other hosts among nodes' interfaces, from 8 hexadecimal digits of its own. */
export function tunnelName(own: string): string {
  return `lwt${own}-0`;
}

export function isTunnel(name: string): boolean {
  return /^lwt[0-9a-f]{8}-0$/.test(name);
}

/** The interface that all links to other hosts share. */
export const VXLAN_NAME = 'lwv00000000-0';

const OWN_INTERFACE = /^lw[rbtv]?[0-9a-f]{8}-\d+$/;

/**
 * Whether users may use the interface: if `allowed` is not empty, only its interfaces and `gns3tap...`. The
 * server's own interfaces among nodes' are never allowed.
 */
export function isAllowedInterface(name: string, allowed: readonly string[]): boolean {
  if (OWN_INTERFACE.test(name)) return false;
  return allowed.length === 0 || allowed.includes(name) || name.startsWith('gns3tap');
}

/** The names of all allowed interfaces, with and without addresses, sorted. */
export function interfaceNames(allowed: readonly string[]): string[] {
  // Interfaces without an address are only found in /sys. If that is missing, the others are still listed.
  const names = new Set([...Object.keys(addressesByInterface()), ...directoryNames()]);
  const offered = [...names].filter((name) => isAllowedInterface(name, allowed));
  return offered.sort((a, b) => (a < b ? -1 : 1));
}

/** Synchronous: the kernel generates the directory, without disk access. */
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
