import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Blueprint } from '../../src/fabric/blueprint.ts';
import type { Verbs } from '../../src/fabric/protocol.ts';

const hub = (device: number): Verbs['createDevice']['takes'] => ({ device, kind: 'hub', settings: {} });
const atHub = (device: number) => ({ kind: 'memory', device, number: 0 }) as const;
const cable: Verbs['connect']['takes'] = { port: 2, cable: { kind: 'null' }, impairments: {} };
const directions: Verbs['impairDirections']['takes'] = { port: 2, impairments: { outgoing: {}, incoming: {} } };
const plan = { changes: [], period: 1000, rounds: 0, base: { outgoing: {}, incoming: {} } };

/** The verbs that rebuild it, as `verb subject`. */
function built(blueprint: Blueprint): string[] {
  return blueprint.verbs().map(({ verb, body }) => {
    const { port, device } = body as { port?: number; device?: number };
    return `${verb} ${port ?? device}`;
  });
}

test('requests are repeated in an order in which they can be done, each with its last settings', () => {
  const blueprint = new Blueprint();
  blueprint.note('createDevice', hub(1));
  blueprint.note('createPort', { port: 2, device: atHub(1), group: '' });
  blueprint.note('connect', cable);
  blueprint.note('impair', { port: 2, impairments: { packetLoss: 1 } });
  blueprint.note('createDevice', hub(3));
  blueprint.note('setDevice', { port: 2, device: atHub(3) });
  blueprint.note('impair', { port: 2, impairments: { packetLoss: 2 } });
  blueprint.note('statistics', { port: 2 });
  assert.deepEqual(built(blueprint), [
    'createDevice 1',
    'createPort 2',
    'connect 2',
    'createDevice 3',
    'setDevice 2',
    'impair 2',
  ]);
  assert.deepEqual(blueprint.verbs().at(-1)!.body, { port: 2, impairments: { packetLoss: 2 } });
});

test('a cable that was pulled takes its impairments and its schedule along', () => {
  const blueprint = new Blueprint();
  blueprint.note('createPort', { port: 2, device: null, group: '' });
  blueprint.note('connect', cable);
  blueprint.note('impairDirections', directions);
  blueprint.note('schedule', { port: 2, plan });
  assert.deepEqual(built(blueprint), ['createPort 2', 'connect 2', 'impairDirections 2', 'schedule 2']);
  blueprint.note('cancelSchedule', { port: 2 });
  assert.deepEqual(built(blueprint), ['createPort 2', 'connect 2', 'impairDirections 2']);
  blueprint.note('disconnect', { port: 2 });
  assert.deepEqual(built(blueprint), ['createPort 2']);
});

test('a port whose device was closed stays, without a device; a closed port is gone', () => {
  const blueprint = new Blueprint();
  blueprint.note('createDevice', hub(1));
  blueprint.note('createPort', { port: 2, device: atHub(1), group: '' });
  blueprint.note('closeDevice', { device: 1 });
  assert.deepEqual(built(blueprint), ['createPort 2']);
  blueprint.note('closePort', { port: 2 });
  assert.deepEqual(built(blueprint), []);
});
