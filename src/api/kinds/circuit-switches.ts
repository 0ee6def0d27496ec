// Frame Relay and ATM switches, which have built-in templates only.
import * as v from 'valibot';
import { AnyObject } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { circuitPorts } from './ports.ts';
import { createBody, identityByUuid, p, updateBody } from './property.ts';

const properties = { ...identityByUuid, mappings: { ...p(AnyObject), create: v.optional(AnyObject, {}) } };

export const CircuitSwitchCreate = createBody(properties);
export const CircuitSwitchUpdate = updateBody(properties);

const COMMON = { properties, withoutConsoleType: true, withoutFilters: true, fixedNios: true } as const;

export const frameRelaySwitch: NodeKindFacts = {
  type: 'frame_relay_switch',
  addedByRelease3: ['usage'],
  ports: (source) => circuitPorts(source, 'FrameRelay'),
  ...COMMON,
  template: {
    nameFormat: 'FRSW{0}',
    symbol: 'frame_relay_switch',
    category: 'switch',
    builtinOnly: true,
    builtin: { id: 'dd0f6f3a-ba58-3249-81cb-a1dd88407a47', name: 'Frame Relay switch' },
  },
};

export const atmSwitch: NodeKindFacts = {
  type: 'atm_switch',
  addedByRelease3: ['usage'],
  ports: (source) => circuitPorts(source, 'ATM'),
  ...COMMON,
  template: {
    nameFormat: 'ATMSW{0}',
    symbol: 'atm_switch',
    category: 'switch',
    builtinOnly: true,
    builtin: { id: 'aaa764e2-b383-300f-8a0e-3493bbfdb7d2', name: 'ATM switch' },
  },
};
