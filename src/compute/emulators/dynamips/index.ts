// Registers routers of Dynamips: platforms, cards in slots, consoles, suspension, idle values.

import { DynamipsCreate, DynamipsUpdate } from '../../../api/kinds/dynamips.ts';
import { defineKind, oneConsole, PROBE_MS, refusalOf } from '../../nodes/kind.ts';
import { program } from './doctor.ts';
import { KEPT } from './kept.ts';
import { DynamipsNode, MODULE, PORT_RULES } from './node.ts';
import { RouterNumbers } from './numbers.ts';
import { findDynamips } from './program.ts';
import { idleRoutes } from './routes.ts';
import { newSetup, setupProperties } from './settings.ts';

/** A router that is only checked, not created. */
const NO_NODE = { nodeId: '', dynamipsId: 0 };

export const dynamips = defineKind({
  type: 'dynamips',
  module: MODULE,
  ...PORT_RULES,
  create: DynamipsCreate,
  update: DynamipsUpdate,
  kept: KEPT,
  doctor: [program],
  unavailableReason: ({ Dynamips }) => refusalOf(() => findDynamips(Dynamips.dynamips_path, PROBE_MS)),

  host: () => new RouterNumbers(),
  make: DynamipsNode.create,
  change: (node: DynamipsNode, body) => node.change(body),
  predict: (body) => setupProperties(newSetup(body, NO_NODE, { mmap_support: true, sparse_memory_support: true })),
  duplicate: (source, destination) => destination.copyConfigurationsOf(source),
  reload: (node) => node.reload(),
  resume: (node) => node.resume(),
  console: {
    ...oneConsole<DynamipsNode>(),
    connectAuxiliary: (node) => node.connectAuxiliaryConsole(),
  },
  routes: idleRoutes,
});
