// Registers TraceNG: one Ethernet port, no console. Its program exists only for Windows.

import { TracengCreate, TracengStart, TracengUpdate } from '../../../api/kinds/traceng.ts';
import { defineKind } from '../../nodes/kind.ts';
import { MODULE, PORT_RULES, TracengNode, UNAVAILABLE } from './node.ts';

export const traceng = defineKind({
  type: 'traceng',
  module: MODULE,
  ...PORT_RULES,
  create: TracengCreate,
  update: TracengUpdate,
  startAnswersNode: true,
  unavailableReason: async () => UNAVAILABLE,

  make: TracengNode.create,
  change: async (node: TracengNode, body) => node.change(body),
  duplicate: (source, destination) => destination.copyFilesOf(source),
  starting: { body: TracengStart, start: (node) => node.start() },
  reload: (node) => node.start(),
});
