// Clouds, whose ports lead out of the lab.
import * as v from 'valibot';
import { ConsolePort, Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { mappedPorts } from './ports.ts';
import { createBody, identityByUuid, p, sentBack, templateMembers, updateBody } from './property.ts';
import { between, mappedPort, positional } from './template-members.ts';

const UdpPort = between(1, 65535);

export const CloudPort = v.variant('type', [
  v.strictObject({ ...mappedPort, type: v.literal('ethernet'), interface: Text }),
  v.strictObject({ ...mappedPort, type: v.literal('tap'), interface: Text }),
  v.strictObject({ ...mappedPort, type: v.literal('udp'), lport: UdpPort, rhost: Text, rport: UdpPort }),
]);

/** A port of a cloud or a NAT: its name, its number, and what it leads to. */
export type CloudPort = v.InferOutput<typeof CloudPort>;

/** The host's interfaces as the cloud lists them. Clients may send the list back; it is ignored. */
const Interfaces = v.array(v.strictObject({ name: Text, type: v.picklist(['ethernet', 'tap']), special: v.boolean() }));
const CONSOLE_TYPES = v.picklist(['telnet', 'vnc', 'spice', 'http', 'https', 'none']);

/** Address of the console behind a cloud; in templates this host. */
export const remoteConsole = {
  remote_console_host: p(v.string(), { node: '', template: v.optional(Text, '127.0.0.1') }),
  remote_console_port: p(v.nullable(ConsolePort), { node: 23, template: v.optional(ConsolePort, 23) }),
  remote_console_type: p(CONSOLE_TYPES, { node: 'none', template: v.optional(CONSOLE_TYPES, 'none') }),
  remote_console_http_path: p(v.string(), { node: '/', template: v.optional(Text, '/') }),
};

const cloudProperties = {
  ...identityByUuid,
  node_directory: sentBack(v.string()),
  ...remoteConsole,
  ports_mapping: p(v.array(CloudPort), { template: v.optional(positional(CloudPort), []) }),
  interfaces: p(Interfaces, { readOnly: true }),
};

export const CloudCreate = createBody(cloudProperties);
export type CloudCreate = v.InferOutput<typeof CloudCreate>;
export const CloudUpdate = updateBody(cloudProperties);
export type CloudUpdate = v.InferOutput<typeof CloudUpdate>;

const interfacesOf = (mapping: readonly unknown[]): (string | undefined)[] =>
  mapping.map((entry) => {
    const { interface: name } = entry as { interface?: unknown };
    return typeof name === 'string' ? name : undefined;
  });

export const cloud: NodeKindFacts = {
  type: 'cloud',
  kernelForwards: true,
  properties: cloudProperties,
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by name'),
  withoutConsoleType: true,
  leadsOut: true,
  needs: ({ list }) => ({ memory: 1, load: 0.01, interfaces: interfacesOf(list('ports_mapping')) }),
  template: {
    nameFormat: 'Cloud{0}',
    symbol: 'cloud',
    category: 'guest',
    members: templateMembers(cloudProperties),
    builtin: { id: '39e257dc-8412-3174-b6b3-0ee3ed6a43e9', name: 'Cloud' },
  },
};
