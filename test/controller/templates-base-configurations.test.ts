import assert from 'node:assert/strict';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { installBaseConfigurations } from '../../src/controller/templates/base-configurations.ts';
import { configureLog } from '../../src/host/log.ts';
import { scratchDirectory } from '../store/scratch.ts';

const NAMES = [
  'ios_base_startup-config.txt',
  'ios_etherswitch_startup-config.txt',
  'iou_l2_base_startup-config.txt',
  'iou_l3_base_startup-config.txt',
  'vpcs_base_config.txt',
];

test('the configurations that templates name are there after the start, with a place for the host name', async (t) => {
  const directory = join(await scratchDirectory(t), 'state/configs');
  await installBaseConfigurations(directory);
  assert.deepEqual((await readdir(directory)).sort(), NAMES);
  for (const name of NAMES) assert.match(await readFile(join(directory, name), 'utf8'), /%h/, name);
});

test('a configuration that a user changed stays as it is, and what was half written goes', async (t) => {
  const directory = await scratchDirectory(t);
  const mine = join(directory, 'vpcs_base_config.txt');
  await writeFile(mine, 'mine');
  // A server that was killed has left this.
  const half = join(directory, '.vpcs_base_config.txt.0123456789ab.labwire-tmp');
  await writeFile(half, 'mi');
  await utimes(half, 1, 1);
  await installBaseConfigurations(directory);
  assert.equal(await readFile(mine, 'utf8'), 'mine');
  assert.deepEqual((await readdir(directory)).sort(), NAMES);
});

test('a configs directory that cannot be made is a warning, not the end of the start', async (t) => {
  const file = join(await scratchDirectory(t), 'file');
  await writeFile(file, '');
  const lines: string[] = [];
  configureLog({ write: (line) => lines.push(line) });
  t.after(() => configureLog({ write: (line) => void process.stderr.write(line) }));
  await installBaseConfigurations(join(file, 'configs'));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /warn .*configs_path/);
});
