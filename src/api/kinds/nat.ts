// NATs. Their templates have no settings, so there is only the built-in one.
import * as v from 'valibot';
import { NodeStatus } from '../vocabulary.ts';
import { CloudPort } from './cloud.ts';
import type { NodeKindFacts } from './kind.ts';
import { mappedPorts } from './ports.ts';
import { createBody, identityByUuid, p, updateBody } from './property.ts';

const natProperties = {
  ...identityByUuid,
  status: p(NodeStatus, { readOnly: true }),
  /** Accepted but ignored: a NAT always has the same port. */
  ports_mapping: p(v.array(CloudPort), { ofHost: true }),
};

export const NatCreate = createBody(natProperties);
export const NatUpdate = updateBody(natProperties);

export const nat: NodeKindFacts = {
  type: 'nat',
  properties: natProperties,
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by name'),
  withoutConsoleType: true,
  leadsOut: true,
  template: {
    nameFormat: 'NAT{0}',
    symbol: 'nat',
    category: 'guest',
    builtin: { id: 'df8f4ea9-33b7-3e96-86a2-c39bc9bb649c', name: 'NAT' },
  },
};
