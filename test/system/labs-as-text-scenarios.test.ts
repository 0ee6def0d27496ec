// What the scenarios of test/conformance leave when nobody tidies up behind them is the same after it was text.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { client } from './client.ts';
import { TOGETHER, thereAndBack } from './there-and-back.ts';

const tests = join(import.meta.dirname, '..');

const SCENARIOS = join(tests, 'conformance/scenarios');

interface Step {
  kind?: string;
  request?: { method: string; path: string };
}

/** A step after which there is no lab any more, or a closed one. */
const ends = ({ request }: Step): boolean =>
  request !== undefined &&
  ((request.method === 'DELETE' && /^\/v2\/projects\/[^/]+$/.test(request.path)) || /\/close$/.test(request.path));

/** What makes a lab and what names its parts; nobody looks at consoles, events and frames here, or waits for them. */
const builds = ({ kind, request }: Step): boolean =>
  request ? !/\/(start|reload|start_capture|pcap|notifications)\b/.test(request.path) : kind === 'set';

/** Scenarios as they are played, but for their end: the lab stays. */
function unfinished(directory: string): string[] {
  const files = readdirSync(SCENARIOS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const scenario = JSON.parse(readFileSync(join(SCENARIOS, name), 'utf8')) as { steps: Step[] };
    const last = scenario.steps.findIndex(ends);
    const steps = (last === -1 ? scenario.steps : scenario.steps.slice(0, last)).filter(builds);
    if (!steps.some(({ request }) => request?.path.startsWith('/v2/projects/'))) return [];
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ ...scenario, steps, cleanup: [] }));
    return [file];
  });
}

test('the labs of the scenarios are the same after text', { concurrency: TOGETHER }, async (t: TestContext) => {
  const labwired = await client(t, { flags: ['--local'] });
  const { daemon } = labwired;
  const player = spawn(
    process.execPath,
    [join(tests, 'conformance/replay.mjs'), '--url', daemon.url, ...unfinished(join(daemon.directory, 'scenarios'))],
    { stdio: 'ignore' },
  );
  await once(player, 'exit');
  const labs = (await daemon.get('/v2/projects')) as { project_id: string; name: string; status: string }[];
  const running: Promise<void>[] = [];
  for (const { project_id: id, name, status } of labs) {
    const path = `/v2/projects/${id}`;
    if (status !== 'opened') continue;
    const parts = (await Promise.all(
      ['nodes', 'drawings'].map((kind) => daemon.get(`${path}/${kind}`)),
    )) as unknown[][];
    if (parts.flat().length === 0) continue;
    await daemon.post(`${path}/nodes/stop`);
    running.push(t.test(name, () => thereAndBack(labwired, id)));
  }
  await Promise.all(running);
  const compared = running.length;
  t.diagnostic(`${compared} labs`);
  assert.ok(compared > 20, `${compared} labs`);
});
