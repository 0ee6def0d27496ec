// Ethernet hubs and switches.
import * as v from 'valibot';
import { ConsolePort, Integer } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { mappedPorts } from './ports.ts';
import { consoleTypes, createBody, identityByUuid, p, templateMembers, updateBody } from './property.ts';
import { eightPorts, mappedPort, positional } from './template-members.ts';

const HubPort = v.strictObject(mappedPort);
export type HubPort = v.InferOutput<typeof HubPort>;
const SwitchPort = v.strictObject({
  ...mappedPort,
  type: v.picklist(['access', 'dot1q', 'qinq']),
  vlan: v.optional(v.pipe(Integer, v.minValue(1))),
  ethertype: v.optional(v.picklist(['', '0x8100', '0x88A8', '0x9100', '0x9200'])),
});

export type SwitchPort = v.InferOutput<typeof SwitchPort>;

const hubProperties = {
  ...identityByUuid,
  ports_mapping: p(v.array(HubPort), { template: v.optional(positional(HubPort), eightPorts({})) }),
};

export const EthernetHubCreate = createBody(hubProperties);
export type EthernetHubCreate = v.InferOutput<typeof EthernetHubCreate>;
export const EthernetHubUpdate = updateBody(hubProperties);
export type EthernetHubUpdate = v.InferOutput<typeof EthernetHubUpdate>;

const switchProperties = {
  ...identityByUuid,
  ports_mapping: p(v.array(SwitchPort), {
    template: v.optional(positional(SwitchPort), eightPorts({ type: 'access', vlan: 1, ethertype: '' })),
  }),
  /** May be sent along; it changes nothing. */
  console: p(v.nullable(ConsolePort)),
  console_type: consoleTypes(['telnet', 'none'], { node: 'none' }, 'live'),
};

export const EthernetSwitchCreate = createBody(switchProperties);
export type EthernetSwitchCreate = v.InferOutput<typeof EthernetSwitchCreate>;
export const EthernetSwitchUpdate = updateBody(switchProperties);
export type EthernetSwitchUpdate = v.InferOutput<typeof EthernetSwitchUpdate>;

export const ethernetHub: NodeKindFacts = {
  type: 'ethernet_hub',
  properties: hubProperties,
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by place'),
  withoutConsoleType: true,
  withoutFilters: true,
  fixedNios: true,
  template: {
    nameFormat: 'Hub{0}',
    symbol: 'hub',
    category: 'switch',
    members: templateMembers(hubProperties),
    builtin: { id: 'b4503ea9-d6b6-3695-9fe4-1db3b39290b0', name: 'Ethernet hub' },
  },
};

export const ethernetSwitch: NodeKindFacts = {
  type: 'ethernet_switch',
  kernelForwards: true,
  properties: switchProperties,
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by place'),
  withoutFilters: true,
  fixedNios: true,
  learnsAddresses: true,
  template: {
    nameFormat: 'Switch{0}',
    symbol: 'ethernet_switch',
    category: 'switch',
    members: templateMembers(switchProperties),
    builtin: {
      id: '1966b864-93e7-32d5-965f-001384eec461',
      name: 'Ethernet switch',
      settings: { console_type: 'none' },
    },
  },
};
