// Registers the cloud: always on, ports that lead out of the lab, no console.

import { CloudCreate, CloudUpdate } from '../../../api/kinds/cloud.ts';
import { defineKind } from '../../nodes/kind.ts';
import { PORT_RULES } from '../../uplinks/uplink-ports.ts';
import { CloudNode, MODULE } from './cloud.ts';

export const cloud = defineKind({
  type: 'cloud',
  module: MODULE,
  ...PORT_RULES,
  create: CloudCreate,
  update: CloudUpdate,
  make: CloudNode.create,
  change: (node: CloudNode, body) => node.change(body),
});
