// systemd/labwired.service: how much of the host it exposes, and that whoever changes a line can read why it is there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';

const root = join(import.meta.dirname, '../..');
const unit = join(root, 'systemd/labwired.service');
const dropIn = join(root, 'systemd/interfaces.conf');
const kernelLinks = join(root, 'systemd/kernel-links.conf');
const noSystemd =
  spawnSync('systemd-analyze', ['--version']).status === 0
    ? false
    : 'systemd-analyze is not installed (Debian: systemd)';

/** From 0 to 10, by systemd-analyze. */
function exposureOf(file: string): number {
  const words = ['security', '--offline=true', '--no-pager', file];
  const { stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
  const exposure = /Overall exposure level for labwired\.service: (\d+\.\d)/.exec(stdout)?.[1];
  assert.ok(exposure !== undefined, stdout + stderr);
  return Number(exposure);
}

test('the service exposes little of the host: 1.7 or less of 10 by systemd-analyze', { skip: noSystemd }, () => {
  const exposure = exposureOf(unit);
  assert.ok(exposure <= 1.7, `${exposure}`);
});

test('systemd understands every line of the unit', { skip: noSystemd }, () => {
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  const complaints = stderr.split('\n').filter((line) => line.startsWith(unit) || line.startsWith('labwired.service'));
  // Where Labwire is not installed the executable is missing, which is not the unit's fault.
  assert.deepEqual(
    complaints.filter((line) => !line.includes('/usr/local/bin/labwired is not executable')),
    [],
  );
});

test('with what clouds and NAT need it exposes 2.5 or less, and systemd understands that, too', {
  skip: noSystemd,
}, (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-unit-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const whole = join(directory, 'labwired.service');
  writeFileSync(whole, readFileSync(unit, 'utf8') + readFileSync(dropIn, 'utf8'));
  const exposure = exposureOf(whole);
  assert.ok(exposure <= 2.5, `${exposure}`);
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', whole], { encoding: 'utf8' });
  assert.deepEqual(
    stderr.split('\n').filter((line) => line.startsWith(whole)),
    [],
  );
});

test('every directive has a comment right above it', () => {
  for (const file of [unit, dropIn, kernelLinks]) {
    const lines = readFileSync(file, 'utf8').split('\n');
    const bare = lines.filter((line, index) => /^[A-Z]\w+=/.test(line) && !lines[index - 1]?.startsWith('#'));
    assert.deepEqual(bare, []);
  }
});

test('every key that the installed configuration shows is understood', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-config-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const shown = readFileSync(join(root, 'systemd/labwired.conf'), 'utf8').replaceAll(/^#(?=\w+ = )/gm, '');
  const file = join(directory, 'labwired.conf');
  writeFileSync(file, shown);
  const environment = { STATE_DIRECTORY: '/var/lib/labwire' };
  const { config, warnings } = loadConfig({ flags: [], environment, workingDirectory: '/', home: '/root', file });
  assert.deepEqual(warnings, []);
  assert.equal(config.Server.user, 'labs');
});
