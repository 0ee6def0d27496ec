// Ports of Dynamips routers, by adapter in a slot and by WIC (as in release 2.2.57).
import type { PortSource } from './kind.ts';
import { type Kind, type Port, port } from './port.ts';

const ADAPTERS: Record<string, [Kind, number]> = {
  'GT96100-FE': ['FastEthernet', 2],
  'Leopard-2FE': ['FastEthernet', 2],
  'C1700-MB-1FE': ['FastEthernet', 1],
  'C2600-MB-1E': ['Ethernet', 1],
  'C2600-MB-2E': ['Ethernet', 2],
  'C2600-MB-1FE': ['FastEthernet', 1],
  'C2600-MB-2FE': ['FastEthernet', 2],
  'C7200-IO-FE': ['FastEthernet', 1],
  'C7200-IO-2FE': ['FastEthernet', 2],
  'C7200-IO-GE-E': ['GigabitEthernet', 1],
  'NM-1E': ['Ethernet', 1],
  'NM-4E': ['Ethernet', 4],
  'NM-1FE-TX': ['FastEthernet', 1],
  'NM-16ESW': ['FastEthernet', 16],
  'NM-4T': ['Serial', 4],
  'PA-FE-TX': ['FastEthernet', 1],
  'PA-2FE-TX': ['FastEthernet', 2],
  'PA-GE': ['GigabitEthernet', 1],
  'PA-4E': ['Ethernet', 4],
  'PA-8E': ['Ethernet', 8],
  'PA-4T+': ['Serial', 4],
  'PA-8T': ['Serial', 8],
  'PA-A1': ['ATM', 1],
  'PA-POS-OC3': ['POS', 1],
};

const WICS: Record<string, [Kind, number]> = {
  'WIC-1ENET': ['Ethernet', 1],
  'WIC-1T': ['Serial', 1],
  'WIC-2T': ['Serial', 2],
};

/** Number of ports of a card or board; undefined for an unknown one. */
export function portsOfCard(name: string): number | undefined {
  return Object.hasOwn(ADAPTERS, name) ? ADAPTERS[name]?.[1] : undefined;
}

/** The same for a WAN interface card, by the API's name. */
export function portsOfWic(name: string): number | undefined {
  return Object.hasOwn(WICS, name) ? WICS[name]?.[1] : undefined;
}

/** Ports by slot, then by WIC; WIC interfaces count over all WICs and sit on adapter 0 from port 16 x (WIC + 1) on. */
export function routerPorts({ properties }: PortSource): Port[] {
  const ports: Port[] = [];
  let wicInterface = 0;
  for (const [name, value] of Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [, place, index] = /^(slot|wic)(\d+)$/.exec(name) ?? [];
    const [kind, amount] = (place === 'slot' ? ADAPTERS : WICS)[String(value)] ?? [];
    if (place === undefined || kind === undefined || amount === undefined) continue;
    const number = Number(index);
    for (let n = 0; n < amount; n += 1) {
      if (place === 'slot') ports.push(port(kind, { name: `${kind}${number}/${n}`, adapter: number, port: n }));
      else ports.push(port(kind, { name: `${kind}0/${wicInterface++}`, adapter: 0, port: 16 * (number + 1) + n }));
    }
  }
  return ports;
}
