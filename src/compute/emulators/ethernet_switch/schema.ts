import * as v from 'valibot';
import { Integer, Text, Uuid } from '../../../store/vocabulary.ts';

const ETHER_TYPES = ['', '0x8100', '0x88A8', '0x9100', '0x9200'] as const;

const SwitchPort = v.strictObject({
  name: Text,
  port_number: v.pipe(Integer, v.minValue(0)),
  type: v.picklist(['access', 'dot1q', 'qinq']),
  vlan: v.optional(v.pipe(Integer, v.minValue(1))),
  ethertype: v.optional(v.picklist(ETHER_TYPES)),
});

const SwitchPorts = v.array(SwitchPort);

const Console = v.optional(v.nullable(v.pipe(Integer, v.minValue(1), v.maxValue(65535))));
const ConsoleType = v.picklist(['telnet', 'none']);

export const EthernetSwitchCreate = v.strictObject({
  name: Text,
  node_id: v.optional(Uuid),
  console: Console,
  console_type: v.optional(ConsoleType, 'none'),
  ports_mapping: v.optional(SwitchPorts),
});

/** Identifiers, status and console port may be sent along; they change nothing. */
export const EthernetSwitchUpdate = v.strictObject({
  name: v.optional(Text),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  ports_mapping: v.optional(SwitchPorts),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
  console: Console,
  console_type: v.optional(ConsoleType),
});

export type SwitchPort = v.InferOutput<typeof SwitchPort>;
export type EthernetSwitchCreate = v.InferOutput<typeof EthernetSwitchCreate>;
export type EthernetSwitchUpdate = v.InferOutput<typeof EthernetSwitchUpdate>;
export type ConsoleType = v.InferOutput<typeof ConsoleType>;
