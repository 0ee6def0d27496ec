// Registers the Ethernet switch: always on, any number of ports, a table of MAC addresses, a console of its own.
import { defineKind } from '../../nodes/kind.ts';
import { PORT_RULES, SwitchNode } from './node.ts';
import { switchRoutes } from './routes.ts';
import { EthernetSwitchCreate, EthernetSwitchUpdate } from './schema.ts';

export const ethernetSwitch = defineKind({
  type: 'ethernet_switch',
  module: undefined,
  ...PORT_RULES,
  create: EthernetSwitchCreate,
  update: EthernetSwitchUpdate,
  startAnswersNode: false,
  updatesNio: false,

  make: SwitchNode.create,
  change: (node: SwitchNode, body) => node.change(body),

  // Its ports were given to the copy when that was created, and it has no files.
  async duplicate() {},

  console: {
    connect: (node) => node.connectConsole(),
    connectPort: (node) => node.connectConsolePort(),
    reset: (node) => node.resetConsole(),
  },
  routes: switchRoutes,
});
