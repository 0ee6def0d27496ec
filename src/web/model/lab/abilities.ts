// What nodes of each type can do: verbs and tabs for anything else are not offered.
import { TRAITS, type Traits } from '../../../api/kinds/traits.ts';
import type { NodeObject } from '../server/types.ts';

type Typed = Pick<NodeObject, 'node_type'>;

const traitsOf = ({ node_type: type }: Typed): Traits => (TRAITS as Readonly<Record<string, Traits>>)[type] ?? {};

export const alwaysRuns = (node: Typed): boolean => traitsOf(node).alwaysRuns === true;
export const hasFiles = (node: Typed): boolean => !alwaysRuns(node);
export const canSuspend = (node: Typed): boolean => traitsOf(node).suspends === true;

export const startupFileOf = (node: Typed): string | undefined => traitsOf(node).startupFile;

/** Whether its host may know the addresses that it has while it runs. */
export const hasLiveAddresses = (node: Typed): boolean => traitsOf(node).hasLiveAddresses === true;

/** The addresses in a node's settings: its own MAC address, and those that its startup script sets. */
export function addressesOf({ properties }: Pick<NodeObject, 'properties'>): string[] {
  const { mac_address: mac, mac_addr: base = mac, startup_script: script } = properties;
  return [
    ...(typeof base === 'string' && base !== '' ? [base] : []),
    ...(typeof script === 'string' ? addressesSetBy(script) : []),
  ];
}

export function addressesSetBy(script: string): string[] {
  const set = script.matchAll(/^\s*ip\s+(?=\S*[.:])([\da-f.:]+(?:\/\d+)?)/gim);
  return [...set].map(([, address]) => address!);
}
