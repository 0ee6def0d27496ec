// Thousands of changes, and SIGKILL at random moments: what was acknowledged is there afterwards, whole, and nothing else is left.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../seeded.ts';
import { type Daemon, eventually, ownDaemon } from '../system/daemon.ts';
import { FROM_SOURCE } from '../system/executable.ts';
import { CANARIES, type Canary } from './canaries.ts';
import { LabModel } from './lab-model.ts';
import { temporaryFiles } from './leftovers.ts';
import { FULL, rig, seedOfRun } from './rig.ts';

const KILLS = FULL ? 150 : 4;
/** Changes between two kills, and milliseconds into the next one, at most. */
const [CHANGES, INTO] = [25, 15];

interface Outcome {
  changes: number;
  kills: number;
  /** What is not as it was acknowledged, nor as an interrupted change may leave it. */
  lost: string[];
  /** Projects that cannot be read, and files that nothing explains. */
  broken: string[];
}

async function startedDaemon(t: TestContext, program?: readonly string[]): Promise<Daemon> {
  // A port that another server takes between the choice and the use would be that one's doing.
  const environment = { LABWIRE_SERVER_UDP_START_PORT_RANGE: '29001', LABWIRE_SERVER_UDP_END_PORT_RANGE: '29999' };
  const daemon = ownDaemon(t, { environment, ...(program ? { program } : {}) });
  return daemon.start();
}

/** Changes a lab until the daemon is killed in the middle of a change, again and again; stops early when it has found something. */
async function killAndCompare(daemon: Daemon, kills: number, random: () => number, canary?: Canary): Promise<Outcome> {
  const name = `Durable-${randomUUID().slice(0, 8)}`;
  const { project_id, path } = await daemon.post('/v2/projects', { name, auto_close: false });
  const url = `/v2/projects/${project_id}`;
  const model = new LabModel(canary ? canary(daemon, path) : daemon, url, random);
  await model.learn();
  const outcome: Outcome = { changes: 0, kills: 0, lost: [], broken: [] };
  while (outcome.kills < kills && outcome.lost.length + outcome.broken.length === 0) {
    let status = 200;
    for (let left = Math.floor(random() * CHANGES); left >= 0 && status >= 200 && status < 300; left--)
      status = await model.change();
    const killed = sleep(random() * INTO).then(() => daemon.kill());
    while (status >= 200 && status < 300) status = await model.change();
    if (status !== 0) outcome.lost.push(`refused: ${model.last}`);
    await killed;
    outcome.kills += 1;
    await daemon.start();
    await daemon.post(`${url}/open`);
    outcome.lost.push(...(await model.differences()));
    const strays = (): string[] => [...temporaryFiles(daemon.state), ...model.strays(join(path, '..'))];
    // What an interrupted change has left is cleared while the first requests are answered already.
    await eventually('strays to be gone', () => strays().length === 0).catch(() => outcome.broken.push(...strays()));
    const projects: { damaged?: string; name: string }[] = await daemon.get('/v2/projects');
    for (const { name, damaged } of projects) if (damaged) outcome.broken.push(`${name}: ${damaged}`);
    JSON.parse(readFileSync(join(path, `${name}.gns3`), 'utf8'));
  }
  outcome.changes = model.changes;
  return outcome;
}

rig({ name: 'durability', promise: 'acknowledged changes survive SIGKILL at any moment' }, async (t) => {
  const seed = seedOfRun();
  t.diagnostic(`LABWIRE_SEED=${seed}`);
  const random = seeded(seed);
  const daemon = await startedDaemon(t);
  const { changes, kills, lost, broken } = await killAndCompare(daemon, KILLS, random);
  assert.deepEqual(lost, []);
  assert.deepEqual(broken, []);
  for (const [what, canary] of Object.entries(CANARIES)) {
    const found = await killAndCompare(daemon, 40, random, canary);
    assert.ok(found.lost.length + found.broken.length > 0, `a server that ${what} is not found out`);
  }
  return [
    { what: 'changes acknowledged', value: changes },
    { what: 'kills at random moments', value: kills },
    { what: 'acknowledged changes lost, interrupted ones half done', value: lost.length },
    { what: 'unreadable projects, files left over', value: broken.length },
    { what: 'weakened servers that were found', value: Object.keys(CANARIES).length + 1 },
    { what: 'seed', value: seed },
  ];
});

test('a server that acknowledges before it has written is found out by the same attack', async (t) => {
  const [node, ...words] = FROM_SOURCE as [string, ...string[]];
  const weakened = [node, '--import', join(import.meta.dirname, 'weakened.ts'), ...words];
  const { lost } = await killAndCompare(await startedDaemon(t, weakened), 20, seeded(1));
  assert.ok(lost.length > 0);
});
