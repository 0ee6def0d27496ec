// Clouds, whose ports lead out of the lab.
import * as v from 'valibot';
import { Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { mappedPorts } from './ports.ts';
import { between, mappedPort, positional } from './template-members.ts';

const UdpPort = between(1, 65535);

const CloudPort = v.variant('type', [
  v.strictObject({ ...mappedPort, type: v.literal('ethernet'), interface: Text }),
  v.strictObject({ ...mappedPort, type: v.literal('tap'), interface: Text }),
  v.strictObject({ ...mappedPort, type: v.literal('udp'), lport: UdpPort, rhost: Text, rport: UdpPort }),
]);

export const cloud: NodeKindFacts = {
  type: 'cloud',
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by name'),
  alwaysRuns: true,
  withoutConsoleType: true,
  leadsOut: true,
  template: {
    nameFormat: 'Cloud{0}',
    symbol: 'cloud',
    category: 'guest',
    members: {
      ports_mapping: v.optional(positional(CloudPort), []),
      remote_console_host: v.optional(Text, '127.0.0.1'),
      remote_console_port: v.optional(between(1, 65535), 23),
      remote_console_type: v.optional(v.picklist(['telnet', 'vnc', 'spice', 'http', 'https', 'none']), 'none'),
      remote_console_http_path: v.optional(Text, '/'),
    },
    builtin: { id: '39e257dc-8412-3174-b6b3-0ee3ed6a43e9', name: 'Cloud' },
  },
};
