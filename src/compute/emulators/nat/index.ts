// Registers the NAT: on as soon as it is made, one port, no console, no files of its own.
import { defineKind } from '../../nodes/kind.ts';
import { PORT_RULES } from '../../uplinks/uplink-ports.ts';
import { NatNode } from './nat.ts';
import { NatCreate, NatUpdate } from './schema.ts';

export const nat = defineKind({
  type: 'nat',
  module: undefined,
  ...PORT_RULES,
  create: NatCreate,
  update: NatUpdate,
  startAnswersNode: false,
  updatesNio: true,
  make: (identity, _body, services) => NatNode.create(identity, services),

  async change(node: NatNode, { name }) {
    node.name = name ?? node.name;
  },
});
