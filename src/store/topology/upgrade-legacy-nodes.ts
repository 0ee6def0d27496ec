// Converts nodes of 1.x: types, properties and ports.
import type { NodeType } from '../../api/vocabulary.ts';
import { conflict, type Failure } from '../../failures.ts';
import { isObject, type JsonObject } from '../json.ts';
import { labelOf } from './upgrade-legacy-style.ts';
import { integer, objects, text, uuidOr } from './upgrade-legacy-values.ts';

export interface LegacyPort {
  adapter_number: number;
  port_number: number;
  /** As in the old file. */
  label: unknown;
}

export interface LegacyNode {
  node: JsonObject;
  /** By the numbers that links use for them. */
  ports: Map<unknown, LegacyPort>;
}

/** Old type -> type and symbol. */
const TYPES: Record<string, [type: NodeType, symbol: string]> = {
  VPCSDevice: ['vpcs', 'vpcs_guest'],
  QemuVM: ['qemu', 'qemu_guest'],
  DockerVM: ['docker', 'docker_guest'],
  ATMSwitch: ['atm_switch', 'atm_switch'],
  EthernetHub: ['ethernet_hub', 'hub'],
  EthernetSwitch: ['ethernet_switch', 'ethernet_switch'],
  FrameRelaySwitch: ['frame_relay_switch', 'frame_relay_switch'],
  EtherSwitchRouter: ['dynamips', 'multilayer_switch'],
  VMwareVM: ['vmware', 'vmware_guest'],
  VirtualBoxVM: ['virtualbox', 'vbox_guest'],
  IOUDevice: ['iou', 'multilayer_switch'],
  Cloud: ['cloud', 'cloud'],
  Host: ['cloud', 'computer'],
};
const ROUTER = /^C(1700|2600|2691|36\d\d|3725|3745|7200)$/;

/** Default memory of routers in MiB. */
const RAM: Record<string, number> = {
  c1700: 160,
  c2600: 160,
  c2691: 192,
  c3600: 192,
  c3725: 128,
  c3745: 256,
  c7200: 512,
};

/**
 * Checksum of the disk of the virtual machine that connected labs of 1.x to the Internet, before there were NAT nodes;
 * its name varies.
 */
const INTERNET_DISK_MD5 = '8ebc5a6ec53a1c05b7aa101b5ceefe31';

/** Properties that are stored elsewhere or no longer; those of ports have become `ports_mapping`. */
const NOT_CARRIED = ['console', 'name', 'console_type', 'console_host', 'use_ubridge', 'ports', 'nios'];
/** Members of a node that are properties now. */
const NOW_PROPERTIES = ['dynamips_id', 'linked_clone'];
const WITH_CONSOLE: readonly NodeType[] = ['vpcs', 'qemu', 'docker', 'dynamips', 'iou', 'virtualbox', 'vmware'];
/** Computes require `linked_clone` for these. */
const MUST_TELL_CLONES: readonly NodeType[] = ['virtualbox', 'vmware'];
/** Each of their ports is on an adapter of its own; old files have only the port number. */
const ONE_PORT_EACH: readonly NodeType[] = ['qemu', 'docker', 'virtualbox', 'vmware'];
/** NIOs of clouds that are now ports, with the type of the port. */
const CLOUD_PORTS: Record<string, string> = {
  nio_gen_eth: 'ethernet',
  nio_gen_linux: 'ethernet',
  nio_tap: 'tap',
  nio_udp: 'udp',
};

/** `Failure('conflict')` for a type, or a cloud's NIO, without a counterpart. */
export function legacyNode(old: JsonObject, compute: string, newId: () => string): LegacyNode {
  const properties = isObject(old['properties']) ? old['properties'] : {};
  const kind = kindOf(old, properties);
  const [type, symbol] = typeOf(kind, properties);
  const labelText = isObject(old['label']) ? old['label']['text'] : undefined;
  const name = text(labelText, text(properties['name'], `${type} ${old['id']}`));
  const label = labelOf(old['label']);
  const wired = wiring(type, name, old, properties);
  return {
    ports: wired.ports,
    node: {
      node_id: uuidOr(old['vm_id'] ?? old['device_id'], newId),
      node_type: type,
      compute_id: compute,
      name,
      console: type === 'nat' ? null : integer(properties['console'], 0) || null,
      console_type: consoleType(type, properties),
      symbol: text(old['symbol'], text(old['default_symbol'], `:/symbols/${symbol}.svg`)).replace(
        /\.normal\.svg$/,
        '.svg',
      ),
      x: integer(old['x'], 0),
      y: integer(old['y'], 0),
      z: integer(old['z'], 1),
      ...(label && { label }),
      ...portNames(old),
      // A NAT has nothing in common with the virtual machine that it replaces.
      properties:
        type === 'nat'
          ? {}
          : { ...carried(type, old, properties), ...wired.properties, ...routerProperties(type, kind, properties) },
    },
  };
}

/** Early releases stored only the platform of routers. */
function kindOf(old: JsonObject, properties: JsonObject): string {
  return text(old['type'], text(properties['platform'], '').toUpperCase() || 'undefined');
}

function typeOf(old: string, properties: JsonObject): [type: NodeType, symbol: string] {
  if (ROUTER.test(old.toUpperCase())) return ['dynamips', 'router'];
  if (old === 'QemuVM' && properties['hda_disk_image_md5sum'] === INTERNET_DISK_MD5) return ['nat', 'cloud'];
  const known = Object.hasOwn(TYPES, old) ? TYPES[old] : undefined;
  if (known) return known;
  throw conflict(`topology.nodes: nodes of the type ${JSON.stringify(old)} have no counterpart in this release`);
}

function consoleType(type: NodeType, properties: JsonObject): string | null {
  const told = properties['console_type'];
  if (!WITH_CONSOLE.includes(type)) return null;
  return typeof told === 'string' ? told : 'telnet';
}

function portNames(old: JsonObject): JsonObject {
  const names: JsonObject = {};
  for (const member of ['port_name_format', 'first_port_name']) {
    if (typeof old[member] === 'string') names[member] = old[member];
  }
  if (typeof old['port_segment_size'] === 'number') names['port_segment_size'] = integer(old['port_segment_size'], 0);
  return names;
}

function carried(type: NodeType, old: JsonObject, properties: JsonObject): JsonObject {
  const members = NOW_PROPERTIES.filter((member) => old[member] !== undefined).map((member) => [member, old[member]]);
  const rest = Object.entries(properties).filter(([name]) => !NOT_CARRIED.includes(name));
  // The base of a clone was once stored under this name.
  const base = typeof old['linked_base'] === 'boolean' ? old['linked_base'] : undefined;
  const isLinked = base ?? (MUST_TELL_CLONES.includes(type) ? false : undefined);
  const linked = isLinked === undefined ? {} : { linked_clone: isLinked };
  return { ...linked, ...Object.fromEntries(members), ...Object.fromEntries(rest) };
}

function routerProperties(type: NodeType, kind: string, properties: JsonObject): JsonObject {
  if (type !== 'dynamips') return {};
  const told = text(properties['platform'], kind === 'EtherSwitchRouter' ? 'c3725' : kind.toLowerCase());
  const platform = /^c36\d\d$/.test(told) ? 'c3600' : told;
  return { platform, ram: integer(properties['ram'], RAM[platform] ?? 128) };
}

interface Wiring {
  ports: Map<unknown, LegacyPort>;
  /** The node's properties for its ports. */
  properties: JsonObject;
}

function wiring(type: NodeType, name: string, old: JsonObject, properties: JsonObject): Wiring {
  const ports = objects(old['ports']);
  switch (type) {
    case 'ethernet_hub':
    case 'ethernet_switch':
      return switchWiring(type, ports);
    case 'cloud':
      return cloudWiring(name, ports, properties);
    case 'nat':
      return { ports: byId(ports, () => ({ adapter_number: 0, port_number: 0 })), properties: {} };
    case 'frame_relay_switch':
    case 'atm_switch':
      return { ports: byId(ports, (port) => ({ adapter_number: 0, port_number: numberOf(port) })), properties: {} };
    default:
      return { ports: byId(ports, (port) => adapterPort(type, port)), properties: {} };
  }
}

function byId(
  ports: readonly JsonObject[],
  place: (port: JsonObject) => Omit<LegacyPort, 'label'> | undefined,
): Map<unknown, LegacyPort> {
  const found = new Map<unknown, LegacyPort>();
  for (const port of ports) {
    const at = place(port);
    if (at) found.set(port['id'], { ...at, label: port['label'] });
  }
  return found;
}

function numberOf(port: JsonObject): number {
  return integer(port['port_number'], integer(port['name'], 0));
}

function adapterPort(type: NodeType, port: JsonObject): Omit<LegacyPort, 'label'> {
  const number = integer(port['port_number'], 0);
  const adapter = port['adapter_number'] ?? port['slot_number'];
  if (adapter === undefined && ONE_PORT_EACH.includes(type)) return { adapter_number: number, port_number: 0 };
  return { adapter_number: integer(adapter, 0), port_number: number };
}

/** Ports of hubs and switches were counted from one. */
function switchWiring(type: NodeType, ports: readonly JsonObject[]): Wiring {
  const mapping = ports.map((port) => {
    const number = Math.max(0, numberOf(port) - 1);
    const entry: JsonObject = { name: `Ethernet${number}`, port_number: number };
    if (type === 'ethernet_hub') return entry;
    const tagging = { type: text(port['type'], 'access'), vlan: Math.max(1, integer(port['vlan'], 1)) };
    return { ...entry, ...tagging, ...(typeof port['ethertype'] === 'string' && { ethertype: port['ethertype'] }) };
  });
  mapping.sort((one, other) => Number(one['port_number']) - Number(other['port_number']));
  return {
    ports: byId(ports, (port) => ({ adapter_number: 0, port_number: Math.max(0, numberOf(port) - 1) })),
    properties: { ports_mapping: mapping },
  };
}

/** Each NIO of a cloud becomes a port named by the NIO's text. */
function cloudWiring(cloud: string, ports: readonly JsonObject[], properties: JsonObject): Wiring {
  const nios = Array.isArray(properties['nios'])
    ? properties['nios'].map(String)
    : ports.map(({ name }) => String(name));
  const mapping: JsonObject[] = [];
  const numbers = new Map<string, number>();
  for (const nio of nios) {
    const entry = cloudPort(cloud, nio, mapping.length);
    if (entry === undefined) continue;
    numbers.set(nio, mapping.length);
    mapping.push(entry);
  }
  return {
    ports: byId(ports, ({ name }) => {
      const number = numbers.get(String(name));
      return number === undefined ? undefined : { adapter_number: 0, port_number: number };
    }),
    properties: { ports_mapping: mapping },
  };
}

function cloudPort(cloud: string, nio: string, number: number): JsonObject | undefined {
  const [kind = '', ...rest] = nio.split(':');
  if (kind === 'nio_nat') return undefined;
  const type = Object.hasOwn(CLOUD_PORTS, kind) ? CLOUD_PORTS[kind] : undefined;
  if (type === undefined) throw unusableNio(cloud, nio, 'this kind has no counterpart in this release');
  if (type !== 'udp') return { name: rest.join(':'), port_number: number, type, interface: rest.join(':') };
  const [, lport, rhost, rport] = UDP_NIO.exec(nio) ?? [];
  if (!isUdpPort(lport) || !isUdpPort(rport))
    throw unusableNio(
      cloud,
      nio,
      'expected nio_udp:<local port>:<remote host>:<remote port>, with ports from 1 to 65535',
    );
  return {
    name: `UDP tunnel ${number + 1}`,
    port_number: number,
    type,
    lport: Number(lport),
    rhost: text(rhost, '127.0.0.1'),
    rport: Number(rport),
  };
}

/** The host is between two ports; an IPv6 address contains colons and may be in brackets. */
const UDP_NIO = /^nio_udp:(\d+):\[?(.*?)\]?:(\d+)$/;

function isUdpPort(value: string | undefined): boolean {
  const port = Number(value);
  return port >= 1 && port <= 65535;
}

function unusableNio(cloud: string, nio: string, reason: string): Failure {
  const member = `topology.nodes: properties.nios of the cloud ${JSON.stringify(cloud)}`;
  return conflict(`${member}: ${JSON.stringify(nio)}: ${reason}. Correct or remove it in the lab's file.`);
}
