// Registers the Ethernet switch: always on, any number of ports, a MAC address table, its own console.

import { EthernetSwitchCreate, EthernetSwitchUpdate } from '../../../api/kinds/ethernet-switches.ts';
import { defineKind, oneConsole } from '../../nodes/kind.ts';
import { PORT_RULES, SwitchNode } from './node.ts';
import { switchRoutes } from './routes.ts';

export const ethernetSwitch = defineKind({
  type: 'ethernet_switch',
  ...PORT_RULES,
  create: EthernetSwitchCreate,
  update: EthernetSwitchUpdate,

  make: SwitchNode.create,
  change: (node: SwitchNode, body) => node.change(body),

  // The copy got its ports at its creation, and there are no files.
  async duplicate() {},

  console: oneConsole<SwitchNode>(),
  routes: switchRoutes,
});
