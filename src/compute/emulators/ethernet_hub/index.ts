// Registers the Ethernet hub: always on, any number of ports, no console, no files.

import { EthernetHubCreate, EthernetHubUpdate } from '../../../api/kinds/ethernet-switches.ts';
import { defineKind } from '../../nodes/kind.ts';
import { defaultPorts } from '../../nodes/ports/ports-mapping.ts';
import { HubNode, PORT_RULES } from './hub.ts';

export const ethernetHub = defineKind({
  type: 'ethernet_hub',
  ...PORT_RULES,
  create: EthernetHubCreate,
  update: EthernetHubUpdate,

  make: (identity, { ports_mapping }, services) =>
    HubNode.create(identity, ports_mapping ?? defaultPorts({}), services),

  async change(hub: HubNode, { name, ports_mapping }) {
    if (ports_mapping !== undefined) hub.changePorts(ports_mapping);
    hub.name = name ?? hub.name;
  },

  // The copy got its ports at its creation, and there are no files.
  async duplicate() {},
});
