// Registers the NAT: always on, one port, no console, no files.

import { NatCreate, NatUpdate } from '../../../api/kinds/nat.ts';
import { defineKind } from '../../nodes/kind.ts';
import { PORT_RULES } from '../../uplinks/uplink-ports.ts';
import { NatNode } from './nat.ts';

export const nat = defineKind({
  type: 'nat',
  ...PORT_RULES,
  create: NatCreate,
  update: NatUpdate,
  make: (identity, _body, services) => NatNode.create(identity, services),

  async change(node: NatNode, { name }) {
    node.name = name ?? node.name;
  },
});
