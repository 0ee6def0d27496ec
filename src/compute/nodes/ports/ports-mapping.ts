// The list of ports of hubs and Ethernet switches: its default, and its changes (as in release 2.2.57).
import { conflict, type Failure } from '../../../failures.ts';

export interface MappedPort {
  name: string;
  port_number: number;
}

const DEFAULT_PORTS = 8;

/** Numbers and names the ports by their position in the list. */
export function numbered<Entry extends Partial<MappedPort>>(entries: readonly Entry[]): (Entry & MappedPort)[] {
  return entries.map((entry, number) => ({ ...entry, name: `Ethernet${number}`, port_number: number }));
}

/** Eight ports, all with the same settings. */
export function defaultPorts<Entry extends object>(settings: Entry): (Entry & MappedPort)[] {
  return numbered(new Array<Entry>(DEFAULT_PORTS).fill(settings));
}

/** The failure for changing the list while NIOs are plugged in. */
export function stillConnected(name: string): Failure {
  const message = `ports_mapping: ${name} is connected; remove its links before its ports change.`;
  return conflict(message, { exception: 'NodeError' });
}
