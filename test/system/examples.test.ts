// The labs of docs/examples, each made, started in its order and tested by the commands that their document names.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { importFrr, noFrr } from '../compute/frr-image.ts';
import { noVpcs } from '../compute/support.ts';
import { BUILT_IN, Client } from './client.ts';
import { type DaemonOptions, startDaemon } from './daemon.ts';
import { engineFor, withEngine } from './machines.ts';

const FOLDER = join(import.meta.dirname, '../../docs/examples');

/** Ports for more nodes than the labs of other tests have. */
const MANY_PORTS = {
  LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: '22000',
  LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: '22499',
  LABWIRE_SERVER_UDP_START_PORT_RANGE: '22500',
  LABWIRE_SERVER_UDP_END_PORT_RANGE: '22999',
};

interface Reported {
  checks: { name: string; passed: boolean; seen: string }[];
}

/** Makes the lab, starts it, and answers what its checks have seen; all have passed. */
async function run(t: TestContext, name: string, options: DaemonOptions = {}) {
  const { environment = {}, ...more } = options;
  const daemon = await startDaemon(t, { config: BUILT_IN, environment: { ...MANY_PORTS, ...environment }, ...more });
  const labwired = new Client(daemon);
  const file = join(FOLDER, name, 'lab.yaml');
  await labwired.say('apply', file, '--start', '--quiet');
  const { out, error } = await labwired.run('test', file, '--json');
  const { checks } = JSON.parse(out) as Reported;
  assert.deepEqual(
    checks.filter(({ passed }) => !passed),
    [],
    error,
  );
  assert.equal((await labwired.run('plan', file)).code, 0, 'the lab is what its file says');
  return { checks, labwired, file };
}

test('the document has all examples', () => {
  const document = readFileSync(join(FOLDER, '../examples.md'), 'utf8');
  for (const name of readdirSync(FOLDER)) assert.ok(document.includes(`examples/${name}/lab.yaml`), name);
});

for (const [engine, skip] of [
  ['built-in', false],
  ['vpcs', noVpcs],
] as const) {
  test(`a class of twenty benches with the engine ${engine}`, { skip }, async (t) => {
    const { checks, labwired, file } = await run(t, 'class', { config: `[VPCS]\nengine = ${engine}\n` });
    assert.equal(checks.length, 40);
    const nodes = JSON.parse(await labwired.say('node', 'list', '--lab', 'Class', '--json')) as unknown[];
    assert.equal(nodes.length, 62);
    await labwired.say('destroy', file, '--yes');
  });
}

test('a WAN with satellites', async (t) => {
  const { checks } = await run(t, 'satellite');
  const times = checks.map(({ seen }) => Number(/, ([\d.]+) ms on average/.exec(seen)![1]));
  assert.ok(times[0]! > 500 && times[2]! >= 80 && times[3]! > times[1]! + 450, String(times));
});

test('an OSPF triangle of FRR containers', async (t) => {
  if (noFrr) return t.skip(noFrr);
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  importFrr(engine);
  const { checks } = await run(t, 'ospf-triangle', withEngine(engine));
  assert.equal(checks.length, 4);
});
