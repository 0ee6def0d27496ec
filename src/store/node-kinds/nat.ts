// NATs. Their templates have nothing to set: there is only the built-in one.
import type { NodeKindFacts } from './kind.ts';
import { mappedPorts } from './ports.ts';

export const nat: NodeKindFacts = {
  type: 'nat',
  addedByRelease3: ['usage'],
  ports: (source) => mappedPorts(source, 'by name'),
  alwaysRuns: true,
  withoutConsoleType: true,
  leadsOut: true,
  template: {
    nameFormat: 'NAT{0}',
    symbol: 'nat',
    category: 'guest',
    builtin: { id: 'df8f4ea9-33b7-3e96-86a2-c39bc9bb649c', name: 'NAT' },
  },
};
