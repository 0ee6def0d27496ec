// Registers the virtual PC: one Ethernet port, a start-up script, a console.

import { VpcsCreate, VpcsUpdate } from '../../../api/kinds/vpcs.ts';
import { defineKind, oneConsole, PROBE_MS, refusalOf } from '../../nodes/kind.ts';
import { program } from './doctor.ts';
import { chooseEngine } from './engine.ts';
import { KEPT } from './kept.ts';
import { MODULE, PORT_RULES, VpcsNode } from './node.ts';
import { PcNumbers } from './numbers.ts';
import { VpcsPrograms } from './program.ts';

export const vpcs = defineKind({
  type: 'vpcs',
  module: MODULE,
  ...PORT_RULES,
  create: VpcsCreate,
  update: VpcsUpdate,
  startAnswersNode: true,
  kept: KEPT,
  doctor: [program],
  unavailableReason: ({ VPCS }) => refusalOf(() => chooseEngine(VPCS, false, new VpcsPrograms(undefined, PROBE_MS))),

  host: () => new PcNumbers(),
  make: VpcsNode.create,
  change: (node: VpcsNode, body) => node.change(body),
  duplicate: (source, destination) => destination.copyFilesOf(source),
  macNumber: {
    get: (node) => node.macNumber,
    set: (node, number) => {
      node.macNumber = number;
    },
  },
  reload: (node) => node.reload(),
  liveAddresses: (node) => node.liveAddresses(),
  console: oneConsole<VpcsNode>(),
});
