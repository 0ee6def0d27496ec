// Virtual PCs.
import * as v from 'valibot';
import { Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { onePort } from './ports.ts';
import { consoleMembers } from './template-members.ts';

const SCRIPT = 'vpcs_base_config.txt';

export const vpcs: NodeKindFacts = {
  type: 'vpcs',
  addedByRelease3: ['usage'],
  ports: onePort,
  macNumber: true,
  template: {
    nameFormat: 'PC{0}',
    symbol: 'vpcs_guest',
    category: 'guest',
    members: { ...consoleMembers, base_script_file: v.optional(Text, SCRIPT) },
    builtin: {
      id: '19021f99-e36f-394d-b4a1-8aaa902ab9cc',
      name: 'VPCS',
      settings: { properties: { base_script_file: SCRIPT } },
    },
  },
};
