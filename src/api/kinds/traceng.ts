// Virtual PCs that trace routes.
import * as v from 'valibot';
import { ConsolePort, Text, Uuid } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { onePort } from './ports.ts';
import { atCreation, consoleTypes, createBody, nameAndNumber, p, templateMembers, updateBody } from './property.ts';

const tracengProperties = {
  ...nameAndNumber,
  node_id: atCreation(Uuid, { readOnly: true }),
  console: p(v.nullable(ConsolePort)),
  console_type: consoleTypes(['none'], { node: 'none' }, 'live'),
  ip_address: p(v.string(), { template: v.optional(Text) }),
  default_destination: p(v.string(), { template: v.optional(Text) }),
};

export const TracengCreate = createBody(tracengProperties);
export type TracengCreate = v.InferOutput<typeof TracengCreate>;
export const TracengUpdate = updateBody(tracengProperties);
export type TracengUpdate = v.InferOutput<typeof TracengUpdate>;

/** The release takes the destination and does not use it; the default one counts. */
export const TracengStart = v.looseObject({ destination: v.optional(v.string()) });

export const traceng: NodeKindFacts = {
  type: 'traceng',
  properties: tracengProperties,
  ports: onePort,
  needs: () => ({ memory: 2, load: 0.02 }),
  template: {
    nameFormat: 'TraceNG{0}',
    symbol: 'traceng',
    category: 'guest',
    members: templateMembers(tracengProperties),
  },
};
