// The network interfaces of this host as the API tells them (interface of release 2.2.57, section 16.4).
import { readdir, readFile } from 'node:fs/promises';
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

/** All interfaces, with and without addresses, sorted by name; `allowed`, if not empty, restricts them (`gns3tap...` always passes). */
export async function networkInterfaces(allowed: readonly string[]): Promise<NetworkInterface[]> {
  const addresses = addressesByInterface();
  // Interfaces without an address are only found in /sys; where that is missing, the others are still told.
  const entries = await readdir(CLASS_DIRECTORY, { withFileTypes: true }).catch(() => []);
  const found = entries.filter((entry) => !entry.isFile()).map((entry) => entry.name);
  const names = new Set([...Object.keys(addresses), ...found]);
  const passes = (name: string): boolean =>
    allowed.length === 0 || allowed.includes(name) || name.startsWith('gns3tap');
  const told = [...names].filter(passes).sort((a, b) => (a < b ? -1 : 1));
  return Promise.all(
    told.map(async (name) => {
      const address = addresses[name]?.find(({ family }) => family === 'IPv4');
      return {
        id: name,
        name,
        ip_address: address?.address ?? '',
        netmask: address?.netmask ?? '',
        mac_address: addresses[name]?.[0]?.mac ?? (await hardwareAddress(name)),
        type: name.startsWith('tap') ? 'tap' : 'ethernet',
        special: isSpecialInterface(name),
      };
    }),
  );
}

async function hardwareAddress(name: string): Promise<string> {
  return (await readFile(`${CLASS_DIRECTORY}/${name}/address`, 'utf8').catch(() => '')).trim();
}
