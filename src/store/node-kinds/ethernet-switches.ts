// Ethernet hubs and switches.
import * as v from 'valibot';
import { Integer } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { mappedPorts } from './ports.ts';
import { eightPorts, hiddenConsoleMembers, mappedPort, positional } from './template-members.ts';

const SwitchPort = v.strictObject({
  ...mappedPort,
  type: v.picklist(['access', 'dot1q', 'qinq']),
  vlan: v.optional(v.pipe(Integer, v.minValue(1))),
  ethertype: v.optional(v.picklist(['', '0x8100', '0x88A8', '0x9100', '0x9200'])),
});

export const ethernetHub: NodeKindFacts = {
  type: 'ethernet_hub',
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by place'),
  alwaysRuns: true,
  withoutConsoleType: true,
  withoutFilters: true,
  fixedNios: true,
  template: {
    nameFormat: 'Hub{0}',
    symbol: 'hub',
    category: 'switch',
    members: { ports_mapping: v.optional(positional(v.strictObject(mappedPort)), eightPorts({})) },
    builtin: { id: 'b4503ea9-d6b6-3695-9fe4-1db3b39290b0', name: 'Ethernet hub' },
  },
};

export const ethernetSwitch: NodeKindFacts = {
  type: 'ethernet_switch',
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by place'),
  alwaysRuns: true,
  withoutFilters: true,
  fixedNios: true,
  learnsAddresses: true,
  template: {
    nameFormat: 'Switch{0}',
    symbol: 'ethernet_switch',
    category: 'switch',
    members: {
      ports_mapping: v.optional(positional(SwitchPort), eightPorts({ type: 'access', vlan: 1, ethertype: '' })),
      console_type: hiddenConsoleMembers.console_type,
    },
    builtin: {
      id: '1966b864-93e7-32d5-965f-001384eec461',
      name: 'Ethernet switch',
      settings: { console_type: 'none' },
    },
  },
};
