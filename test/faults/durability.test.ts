// Thousands of changes, and SIGKILL at random moments: what was acknowledged is there afterwards, whole, and nothing else is left.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, ownDaemon } from '../system/daemon.ts';
import { FROM_SOURCE } from '../system/executable.ts';
import { LabModel } from './lab-model.ts';
import { temporaryFiles } from './leftovers.ts';
import { FULL, rig, seeded, seedOfRun } from './rig.ts';

const KILLS = FULL ? 150 : 8;
/** Milliseconds that the daemon lives at least and at most. */
const LIFE = [20, 400] as const;

interface Outcome {
  changes: number;
  kills: number;
  /** Acknowledged changes that are not there. */
  lost: string[];
  /** Projects that cannot be read, and files that were left half written. */
  broken: string[];
}

async function killAndCompare(
  t: TestContext,
  kills: number,
  seed: number,
  program?: readonly string[],
): Promise<Outcome> {
  const random = seeded(seed);
  // A port that another server takes between the choice and the use would be that one's doing.
  const environment = { LABWIRE_SERVER_UDP_START_PORT_RANGE: '29001', LABWIRE_SERVER_UDP_END_PORT_RANGE: '29999' };
  const daemon = ownDaemon(t, { environment, ...(program ? { program } : {}) });
  await daemon.start();
  const { project_id, path } = await daemon.post('/v2/projects', { name: 'Durable', auto_close: false });
  const url = `/v2/projects/${project_id}`;
  const model = new LabModel(daemon, url, random);
  await model.learn();
  const outcome: Outcome = { changes: 0, kills: 0, lost: [], broken: [] };
  while (outcome.kills < kills) {
    const killed = sleep(LIFE[0] + random() * (LIFE[1] - LIFE[0])).then(() => daemon.kill());
    for (let status = 200; status !== 0; ) {
      status = await model.change();
      assert.ok(status < 300, `a change was refused with ${status}`);
    }
    await killed;
    outcome.kills += 1;
    await daemon.start();
    await daemon.post(`${url}/open`);
    outcome.lost.push(...(await model.differences()));
    await eventually('temporary files to be gone', () => temporaryFiles(daemon.state).length === 0).catch(() => {});
    outcome.broken.push(...temporaryFiles(daemon.state));
    const projects: { damaged?: string; name: string }[] = await daemon.get('/v2/projects');
    for (const { name, damaged } of projects) if (damaged) outcome.broken.push(`${name}: ${damaged}`);
    JSON.parse(readFileSync(join(path, 'Durable.gns3'), 'utf8'));
  }
  outcome.changes = model.changes;
  return outcome;
}

rig({ name: 'durability', promise: 'what was acknowledged survives SIGKILL at any moment' }, async (t) => {
  const seed = seedOfRun();
  t.diagnostic(`LABWIRE_SEED=${seed}`);
  const { changes, kills, lost, broken } = await killAndCompare(t, KILLS, seed);
  assert.deepEqual(lost, []);
  assert.deepEqual(broken, []);
  return [
    { what: 'changes acknowledged', value: changes },
    { what: 'kills at random moments', value: kills },
    { what: 'acknowledged changes lost', value: 0 },
    { what: 'projects unreadable, files left half written', value: 0 },
    { what: 'seed', value: seed },
  ];
});

test('a server that acknowledges before it has written is found out by the same attack', async (t) => {
  const [node, ...words] = FROM_SOURCE as [string, ...string[]];
  const weakened = [node, '--import', join(import.meta.dirname, 'weakened.ts'), ...words];
  const { lost } = await killAndCompare(t, 4, 1, weakened);
  assert.ok(lost.length > 0);
});
