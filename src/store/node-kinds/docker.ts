// Docker containers.
import * as v from 'valibot';
import { Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { containerPorts } from './ports.ts';
import { between, consoleMembers, customAdapters, macAddress, text } from './template-members.ts';

export const docker: NodeKindFacts = {
  type: 'docker',
  addedByRelease3: ['memory', 'cpus'],
  ports: containerPorts,
  creationLimit: 0,
  linksLeadInside: true,
  template: {
    nameFormat: '{name}-{0}',
    symbol: 'docker_guest',
    category: 'guest',
    members: {
      ...consoleMembers,
      image: Text,
      usage: text(),
      adapters: v.optional(between(0, 99), 1),
      mac_address: macAddress,
      start_command: text(),
      environment: text(),
      console_type: v.optional(v.picklist(['telnet', 'vnc', 'http', 'https', 'none']), 'telnet'),
      console_http_port: v.optional(between(1, 65535), 80),
      console_http_path: v.optional(Text, '/'),
      console_resolution: v.optional(
        v.pipe(v.string(), v.regex(/^[0-9]+x[0-9]+$/, 'width x height, such as 1024x768')),
        '1024x768',
      ),
      extra_hosts: text(),
      extra_volumes: v.optional(v.array(v.unknown()), []),
      custom_adapters: customAdapters,
    },
  },
};
