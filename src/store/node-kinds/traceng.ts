// Virtual PCs that trace routes.
import * as v from 'valibot';
import { Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { onePort } from './ports.ts';

export const traceng: NodeKindFacts = {
  type: 'traceng',
  ports: onePort,
  template: {
    nameFormat: 'TraceNG{0}',
    symbol: 'traceng',
    category: 'guest',
    members: {
      ip_address: v.optional(Text),
      default_destination: v.optional(Text),
      console_type: v.optional(v.picklist(['none']), 'none'),
    },
  },
};
