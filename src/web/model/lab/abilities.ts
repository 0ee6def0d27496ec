// What nodes of each type can do: verbs and tabs for anything else are not offered.
import type { NodeObject } from '../server/types.ts';

/** Parts of the server itself: they run as long as their lab is open, and have no files. */
const PARTS_OF_THE_SERVER: readonly string[] = [
  'ethernet_switch',
  'ethernet_hub',
  'frame_relay_switch',
  'atm_switch',
  'nat',
  'cloud',
];
const PAUSABLE: readonly string[] = ['qemu', 'docker', 'dynamips', 'virtualbox', 'vmware'];

type Typed = Pick<NodeObject, 'node_type'>;

export const alwaysRuns = ({ node_type: type }: Typed): boolean => PARTS_OF_THE_SERVER.includes(type);
export const hasFiles = (node: Typed): boolean => !alwaysRuns(node);
/** Suspending the others changes nothing. */
export const canSuspend = ({ node_type: type }: Typed): boolean => PAUSABLE.includes(type);

/** The addresses in a node's settings: its own MAC address, and those that its startup script sets. */
export function addressesOf({ properties }: Pick<NodeObject, 'properties'>): string[] {
  const { mac_address: mac, mac_addr: base = mac, startup_script: script } = properties;
  const set = typeof script === 'string' ? script.matchAll(/^\s*ip\s+(?=\S*[.:])([\da-f.:]+(?:\/\d+)?)/gim) : [];
  return [...(typeof base === 'string' && base !== '' ? [base] : []), ...[...set].map(([, address]) => address!)];
}
