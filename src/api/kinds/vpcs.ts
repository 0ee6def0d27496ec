// Virtual PCs.
import * as v from 'valibot';
import { ConsolePort, Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { onePort } from './ports.ts';
import {
  atCreation,
  consoleTypes,
  createBody,
  nameAndNumber,
  ofTemplate,
  p,
  templateMembers,
  updateBody,
} from './property.ts';
import { flag } from './template-members.ts';

const SCRIPT = 'vpcs_base_config.txt';

const vpcsProperties = {
  ...nameAndNumber,
  console: p(v.nullable(ConsolePort)),
  console_type: consoleTypes(['telnet', 'none'], { node: 'telnet' }),
  console_auto_start: ofTemplate(flag(false)),
  startup_script: atCreation(v.nullable(v.string())),
  base_script_file: ofTemplate(v.optional(Text, SCRIPT)),
};

export const VpcsCreate = createBody(vpcsProperties);
export type VpcsCreate = v.InferOutput<typeof VpcsCreate>;
export const VpcsUpdate = updateBody(vpcsProperties);
export type VpcsUpdate = v.InferOutput<typeof VpcsUpdate>;

export const vpcs: NodeKindFacts = {
  type: 'vpcs',
  properties: vpcsProperties,
  addedByRelease3: ['usage'],
  ports: onePort,
  macNumber: true,
  configurations: { startup: () => 'startup.vpc' },
  needs: () => ({ memory: 2, load: 0.02 }),
  template: {
    nameFormat: 'PC{0}',
    symbol: 'vpcs_guest',
    category: 'guest',
    members: templateMembers(vpcsProperties),
    builtin: {
      id: '19021f99-e36f-394d-b4a1-8aaa902ab9cc',
      name: 'VPCS',
      settings: { properties: { base_script_file: SCRIPT } },
    },
  },
};
