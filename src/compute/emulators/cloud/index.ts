// Registers the cloud: on as soon as it is made, ports that lead out of the lab, no console of its own.
import { defineKind } from '../../nodes/kind.ts';
import { PORT_RULES } from '../../uplinks/uplink-ports.ts';
import { CloudNode, MODULE } from './cloud.ts';
import { CloudCreate, CloudUpdate } from './schema.ts';

export const cloud = defineKind({
  type: 'cloud',
  module: MODULE,
  ...PORT_RULES,
  create: CloudCreate,
  update: CloudUpdate,
  startAnswersNode: false,
  updatesNio: true,
  make: CloudNode.create,
  change: (node: CloudNode, body) => node.change(body),
});
