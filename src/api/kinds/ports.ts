// Computes the ports of nodes by kind (as in release 2.2.57). Pure: the same input gives the same ports.
import { conflict } from '../../failures.ts';
import { addToMac } from '../mac.ts';
import type { PortSource } from './kind.ts';
import { type Kind, type Port, port } from './port.ts';

function count(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : fallback;
}

interface MappedPort {
  name?: unknown;
  port_number?: unknown;
}

function mapping(properties: PortSource['properties']): MappedPort[] {
  return Array.isArray(properties['ports_mapping']) ? (properties['ports_mapping'] as MappedPort[]) : [];
}

/** Distinct port numbers on either side of the mappings of a Frame Relay or ATM switch, ascending. */
function mappedNumbers(mappings: unknown): number[] {
  const sides = typeof mappings === 'object' && mappings !== null ? Object.entries(mappings).flat() : [];
  const numbers = sides
    .map((side) => Number.parseInt(String(side).split(':')[0] as string, 10))
    .filter(Number.isInteger);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** `eth0`, `eth1` ...: the interfaces of a Linux container. */
export function containerPorts({ properties, custom_adapters }: PortSource): Port[] {
  const base = properties['mac_address'];
  return Array.from({ length: count(properties['adapters'], 1) }, (_unused, adapter) => {
    const custom = custom_adapters.find(({ adapter_number: number }) => number === adapter);
    const mac = custom?.mac_address ?? (typeof base === 'string' && base !== '' ? addToMac(base, adapter) : undefined);
    const name = custom?.port_name ?? `eth${adapter}`;
    return port('Ethernet', { name, short: name, adapter, port: 0 }, mac === undefined ? {} : { mac_address: mac });
  });
}

/** Expands a port name format for the current interface and segment. */
function expand(format: string, at: { interface: number; segment: number; adapter: number }): string {
  return format.replaceAll(/\{([^{}]*)\}|[{}]/g, (_whole, word: string | undefined) => {
    if (word === '0') return String(at.interface);
    if (word === '1') return String(at.segment);
    if (word === 'adapter') return String(at.adapter);
    const offset = /^(port|segment)([0-8])$/.exec(word ?? '');
    if (offset) return String((offset[1] === 'port' ? at.interface : at.segment) + Number(offset[2]));
    throw conflict(
      `port_name_format: "${format}" cannot be expanded; use {0}, {1}, {adapter}, {port0} to {port8}, {segment0} to {segment8}.`,
    );
  });
}

/** The standard rule: named by the node's format, with one or several ports on each adapter. */
export function adapterPorts(source: PortSource, perAdapter = 1): Port[] {
  const { properties, custom_adapters, first_port_name: first, port_segment_size: size } = source;
  const ethernetAdapters = count(properties['ethernet_adapters'] ?? properties['adapters'], 1);
  const ports: Port[] = [];
  const at = { interface: 0, segment: 0, adapter: 0 };
  for (; at.adapter < ethernetAdapters; at.adapter += 1) {
    const custom = custom_adapters.find(({ adapter_number: number }) => number === at.adapter);
    const base = properties['mac_address'];
    const more: { adapter_type?: string; mac_address?: string } = {};
    const type = custom?.adapter_type ?? properties['adapter_type'];
    if (typeof type === 'string') more.adapter_type = type;
    const mac =
      custom?.mac_address ?? (typeof base === 'string' && base !== '' ? addToMac(base, at.adapter) : undefined);
    if (mac !== undefined) more.mac_address = mac;
    for (let number = 0; number < perAdapter; number += 1) {
      if (first && at.adapter === 0) {
        const name = custom?.port_name ?? first;
        ports.push(port('Ethernet', { name, short: name, adapter: at.adapter, port: number }, more));
        continue;
      }
      const name = custom?.port_name ?? expand(source.port_name_format, at);
      ports.push(port('Ethernet', { name, adapter: at.adapter, port: number }, more));
      at.interface += 1;
      if (!size) at.segment += 1;
      else if (at.interface % size === 0) {
        at.segment += 1;
        at.interface = 0;
      }
    }
  }
  const adapters = ethernetAdapters + count(properties['serial_adapters'], 0);
  for (; at.adapter < adapters; at.adapter += 1, at.segment += 1) {
    for (let number = 0; number < perAdapter; number += 1) {
      ports.push(port('Serial', { name: `Serial${at.segment}/${number}`, adapter: at.adapter, port: number }));
    }
  }
  return ports;
}

export function onePort(): Port[] {
  return [port('Ethernet', { name: 'Ethernet0', adapter: 0, port: 0 })];
}

/** The ports that `ports_mapping` lists, called by their names there, or for short by their places. */
export function mappedPorts({ properties }: PortSource, short: 'by name' | 'by place'): Port[] {
  return mapping(properties).map(({ name }, index) =>
    port('Ethernet', {
      name: String(name),
      short: short === 'by name' ? String(name) : `e${index}`,
      adapter: 0,
      port: index,
    }),
  );
}

/** The ports that the circuits in `mappings` lead through. */
export function circuitPorts({ properties }: PortSource, kind: Kind): Port[] {
  return mappedNumbers(properties['mappings']).map((number) =>
    port(kind, { name: String(number), short: String(number), adapter: 0, port: number }),
  );
}
