// Plays every scenario recorded from release 3.0.6 against the executable: what a client of that release needs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Gap, judge, type Played } from '../conformance/judge.ts';
import { Daemon } from './daemon.ts';

const folder = join(import.meta.dirname, '../conformance-v3');

/** What does not pass, and why. One that passes must be taken off. */
const GAPS: Readonly<Record<string, Gap>> = {
  'project/export-import': 'archives have no instruction tables of Dynamips: hubs run without it here',
};

test('clients of release 3.0.6 get what it would answer', { timeout: 300_000 }, async () => {
  await using daemon = new Daemon({
    flags: ['--local'],
    environment: { LABWIRE_SERVER_AUTH: 'true', LABWIRE_SERVER_USER: 'admin', LABWIRE_SERVER_PASSWORD: 'admin' },
    headers: { Authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}` },
  });
  await daemon.start();
  const result = join(daemon.directory, 'result.json');
  const words = [join(folder, 'replay.mjs'), '--url', daemon.url, '--json', result];
  const player = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(player, 'exit');
  assert.ok(code === 0 || code === 1, `the player ended with ${code}\n${daemon.log}`);
  const { scenarios } = JSON.parse(readFileSync(result, 'utf8')) as { scenarios: Played[] };
  const { lines, failed, passed } = judge(scenarios, GAPS, { vpcs: '', complete: true });
  assert.equal(failed, 0, lines.join('\n'));
  assert.ok(passed >= 48, `${passed} scenarios passed`);
  // All else in the scenario of the gap is as recorded.
  const { steps } = scenarios.find(({ area, name }) => `${area}/${name}` === 'project/export-import')!;
  const others = steps.flatMap(({ diffs }) => diffs).filter(({ path }) => !path.startsWith('zip.entries['));
  assert.deepEqual(others, []);
  const missing = steps.flatMap(({ diffs }) => diffs.map(({ expected }) => String(expected)));
  assert.deepEqual(
    missing.filter((text) => !text.includes('project-files/dynamips/ilt_')),
    [],
  );
});
