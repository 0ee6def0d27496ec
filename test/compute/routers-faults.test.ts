// Routers whose emulator fails: the real one where it can be made to, a stand-in for what it cannot be made to do.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmod, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory } from '../store/scratch.ts';
import { noDynamips, READY, router, routers, Typist } from './router-support.ts';
import { programsOf } from './support.ts';

const skip = noDynamips;

/** A stand-in that goes wrong in this way. */
async function standIn(t: TestContext, fault: string): Promise<string> {
  const directory = await scratchDirectory(t);
  await copyFile(join(import.meta.dirname, 'hypervisor-stand-in.mjs'), `${directory}/stand-in.mjs`);
  const path = join(directory, `dynamips-${fault}`);
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${directory}/stand-in.mjs' ${fault} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

/** An ELF header alone: enough for the server, and for a stand-in. */
const HEADER = Buffer.from('7f454c460102010000000000000000000002002b'.padEnd(128, '0'), 'hex');

test('an emulator that is missing, too old, strange or hangs is named when a router is made', async (t) => {
  for (const [fault, reason] of [
    ['old', /version 0\.2\.8; install 0\.2\.11 or newer|is version 0\.2\.8/],
    ['strange', /does not answer as Dynamips does/],
    ['hangs', /did not answer within/],
  ] as const) {
    const made = await routers(t, [], { dynamips_path: await standIn(t, fault) });
    await writeFile(join(made.images, 'c7200.image'), HEADER);
    const body = { name: 'R1', platform: 'c7200', image: 'c7200.image', ram: 64 };
    const { message, exception } = await made.lab.expect(409, 'POST', `${made.project}/dynamips/nodes`, body);
    assert.match(message, reason);
    assert.equal(exception, 'DynamipsError');
    await made.lab.stop();
  }
  const { lab, project, images } = await routers(t, [], { dynamips_path: '/nowhere/dynamips' });
  await writeFile(join(images, 'c7200.image'), HEADER);
  const body = { name: 'R1', platform: 'c7200', image: 'c7200.image', ram: 64 };
  assert.match((await lab.expect(409, 'POST', `${project}/dynamips/nodes`, body)).message, /apt install dynamips/);
});

test('an emulator that fails at the start is reported in words, and nothing is left behind', async (t) => {
  for (const [fault, reason] of [
    ['refuses', /refused 'vm start'.*unable to start/],
    ['dies', /vm start/],
    ['garbage', /does not answer as Dynamips does/],
    ['mute', /ended at once/],
  ] as const) {
    const instance = randomUUID();
    const settings = { instance, dynamips_path: await standIn(t, fault), ghost_ios_support: 'false' };
    const made = await routers(t, [], settings);
    await writeFile(join(made.images, 'c7200.image'), HEADER);
    const path = await router(made, 'c7200', 'c7200');
    const { message, exception } = await made.lab.expect(409, 'POST', `${path}/start`);
    assert.match(message, reason, fault);
    assert.equal(exception, 'DynamipsError');
    assert.equal((await made.lab.expect(200, 'GET', path)).status, 'stopped');
    assert.deepEqual(programsOf(instance), []);
    await made.lab.stop();
  }
});

test('a router that dies takes no other along, is reported, and can be started again', { skip }, async (t) => {
  const instance = randomUUID();
  const made = await routers(t, ['c3600'], { instance });
  const { lab } = made;
  const [one, other] = [await router(made, 'c3600', 'c3600'), await router(made, 'c3600', 'c3600', { name: 'R2' })];
  for (const path of [one, other]) await lab.expect(204, 'POST', `${path}/start`);
  const [program] = programsOf(instance).filter(({ nodeId }) => nodeId === one.split('/').at(-1));
  process.kill(program!.pid, 'SIGKILL');
  assert.match((await lab.told('log.error')).message, /^R1 ended unexpectedly by SIGKILL/);
  assert.equal((await lab.expect(200, 'GET', one)).status, 'stopped');
  const { status, console } = await lab.expect(200, 'GET', other);
  assert.equal(status, 'started');
  const typist = new Typist(t, console);
  typist.socket.write('alive');
  await typist.sees('alive');
  await lab.expect(204, 'POST', `${one}/start`);
  await new Typist(t, (await lab.expect(200, 'GET', one)).console).sees(READY);
});
