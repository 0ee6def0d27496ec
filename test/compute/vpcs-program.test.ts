// Finding vpcs: the real one, and files that only look like it.
import assert from 'node:assert/strict';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseVersion, VpcsPrograms } from '../../src/compute/emulators/vpcs/program.ts';
import { childEnvironment } from '../../src/host/processes/child-processes.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { isRunning } from '../consoles/harness.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** An executable shell script in a directory that goes with the test. */
async function program(t: TestContext, script: string, name = 'vpcs') {
  const directory = await scratchDirectory(t);
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { directory, path };
}

const BANNER = 'echo; echo "Welcome to Virtual PC Simulator, version 0.8.3"';

test('the installed vpcs is found by name and reports its version', async (t) => {
  const path = await findProgram('vpcs');
  if (path === undefined) return t.skip('vpcs is not installed');
  const found = await new VpcsPrograms().find('vpcs');
  assert.equal(found.path, path);
  assert.match(found.version, /^\d+\.\d/);
  assert.deepEqual(await new VpcsPrograms().find(path), found);
});

test('the version is read from the words of old and new programs', () => {
  assert.equal(parseVersion('\r\nWelcome to Virtual PC Simulator, version 0.5b2\r\nDedicated to Daling.\r\n'), '0.5b2');
  assert.equal(parseVersion('\nWelcome to Virtual PC Simulator, version 0.8.3\nDedicated'), '0.8.3');
  assert.equal(parseVersion('vpcs 1.0'), undefined);
});

test('a program is asked once until its file changes', async (t) => {
  const { directory, path } = await program(t, `echo asked >> "$0.log"; ${BANNER}`);
  const programs = new VpcsPrograms(childEnvironment({ PATH: `${directory}:/usr/bin:/bin` }));
  const found = await Promise.all([programs.find('vpcs'), programs.find(path), programs.find('vpcs')]);
  assert.deepEqual(found, new Array(3).fill({ path, version: '0.8.3' }));
  assert.equal(await readFile(`${path}.log`, 'utf8'), 'asked\n');
  await utimes(path, 1, 1);
  await programs.find(path);
  assert.equal(await readFile(`${path}.log`, 'utf8'), 'asked\nasked\n');
});

const vpcsFailure = (message: RegExp) => ({ name: 'Failure', code: 'conflict', exception: 'VPCSError', message });

test('a missing vpcs is a conflict that names the configuration key and the fix', async (t) => {
  const { directory } = await program(t, '', 'other');
  const programs = new VpcsPrograms(childEnvironment({ PATH: directory }));
  for (const path of ['vpcs', '/no/such/vpcs', directory]) {
    await assert.rejects(
      programs.find(path),
      vpcsFailure(/no program '.*apt install vpcs.*vpcs_path in section \[VPCS\]/),
    );
  }
});

test('a vpcs that hangs is a conflict within the time limit, and nothing of it is left', async (t) => {
  const { path } = await program(t, 'sleep 1000 & echo $! $$ > "$0.pids"; wait');
  const programs = new VpcsPrograms(childEnvironment(), 5_000);
  await assert.rejects(
    programs.find(path),
    vpcsFailure(/did not answer within 5 s; set vpcs_path in section \[VPCS\]/),
  );
  for (const pid of (await readFile(`${path}.pids`, 'utf8')).trim().split(' ')) {
    await eventually(`the end of ${pid}`, () => !isRunning(Number(pid)));
  }
});

test('something else called vpcs is a conflict, and is asked again when it was replaced', async (t) => {
  const { path } = await program(t, 'echo something else; yes | head -c 1000000');
  const programs = new VpcsPrograms();
  await assert.rejects(programs.find(path), vpcsFailure(/does not answer as VPCS does; set vpcs_path/));
  await writeFile(path, `#!/bin/sh\n${BANNER}\n`);
  assert.equal((await programs.find(path)).version, '0.8.3');
});

test('a file that cannot be run is a conflict', async (t) => {
  const { path } = await program(t, '');
  await writeFile(path, '#!/no/such/interpreter\n');
  await assert.rejects(new VpcsPrograms().find(path), vpcsFailure(/cannot be run \(.*\); set vpcs_path/));
});
