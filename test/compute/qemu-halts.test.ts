// Machines that QEMU has halted: told with the reason, shown at the node, and let go on or started again by their user.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Qmp } from '../../src/compute/emulators/qemu/qmp.ts';
import { until } from '../fabric/peers.ts';
import { bootSector, type Machines, machines, noQemu, PANIC, SMALL } from './qemu-support.ts';

const skip = noQemu;

/** Reads a sector over and over (BIOS interrupt 13h). */
const READ = [0xb8, 0x01, 0x02, 0xb9, 0x05, 0x00, 0xba, 0x80, 0x00, 0xbb, 0x00, 0x80, 0xcd, 0x13, 0xeb, 0xf0];

/** QEMU serves one client at a time: a second socket for whoever else controls it. */
const SECOND_CONTROL = '-qmp unix:other.sock,server=on,wait=off';

async function otherProgram(t: TestContext, { directory }: Machines, node: string): Promise<Qmp> {
  const path = join(directory, 'project-files/qemu', node.split('/').at(-1)!, 'other.sock');
  // A path of a socket must be short.
  process.chdir(join(path, '..'));
  t.after(() => process.chdir('/'));
  const qmp = await Qmp.open(connect('other.sock'));
  t.after(() => qmp.close());
  return qmp;
}

test('a machine that another program pauses is suspended, with the reason, until it goes on', { skip }, async (t) => {
  const here = process.cwd();
  t.after(() => process.chdir(here));
  const all = await machines(t, { allow_unsafe_options: true });
  const { lab, project } = all;
  const options = `${SMALL.options} ${SECOND_CONTROL}`;
  const node = await lab.node(project, 'qemu', { ...SMALL, options });
  assert.equal('halt_reason' in (await lab.expect(200, 'POST', `${node}/start`)), false);
  const other = await otherProgram(t, all, node);
  const shown = async () => {
    const { status, halt_reason } = await lab.expect(200, 'GET', node);
    return { status, halt_reason };
  };

  await other.run('stop');
  const { message } = await lab.told('log.error');
  assert.equal(message, 'N1 stands still: another program has paused it; start the node to let it go on.');
  const halted = {
    status: 'suspended',
    halt_reason: 'another program has paused it; start the node to let it go on',
  };
  assert.deepEqual(await shown(), halted);
  assert.equal((await lab.told('node.updated', ({ halt_reason }) => halt_reason !== undefined)).status, 'suspended');
  const goesOn = { status: 'started', halt_reason: undefined };
  await other.run('cont');
  await until(async () => (await shown()).status === 'started');
  assert.deepEqual(await shown(), goesOn);

  await other.run('stop');
  await until(async () => (await shown()).status === 'suspended');
  await lab.expect(200, 'POST', `${node}/start`);
  assert.deepEqual(await shown(), goesOn);
  assert.equal(((await other.run('query-status')) as { status: string }).status, 'running');

  // What the user asks for is no halt.
  await lab.expect(204, 'POST', `${node}/suspend`);
  assert.deepEqual(await shown(), { status: 'suspended', halt_reason: undefined });
});

test('a guest that panics stays there with the reason; a reload starts it again', { skip }, async (t) => {
  const { lab, project, images } = await machines(t);
  await bootSector(images, 'panic.img', ...PANIC);
  const disk = { hda_disk_image: 'panic.img', hda_disk_interface: 'ide' };
  const options = `${SMALL.options} -device pvpanic`;
  const node = await lab.node(project, 'qemu', { ...SMALL, ...disk, options });
  await lab.expect(200, 'POST', `${node}/start`);
  const panicked = /^N1 stands still: the guest has panicked; reload the node to start it again\.$/;
  assert.match((await lab.told('log.error')).message, panicked);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'suspended');
  lab.messages.length = 0;
  await lab.expect(204, 'POST', `${node}/reload`);
  await lab.told('node.updated', ({ status, halt_reason }) => status === 'started' && halt_reason === undefined);
  // It panics anew.
  assert.match((await lab.told('log.error')).message, panicked);
});

test('a machine that an error of a disk halts is reported with the disk, and tries again when it is started', {
  skip,
}, async (t) => {
  const { lab, project, images } = await machines(t, { allow_unsafe_options: true });
  await bootSector(images, 'read.img', ...READ);
  const image = join(images, 'read.img');
  const faulty = `driver=blkdebug,image.driver=file,image.filename=${image},inject-error.0.event=none,inject-error.0.iotype=read,inject-error.0.sector=4`;
  const options = `${SMALL.options} -blockdev ${faulty},node-name=faulty -device ide-hd,drive=faulty,rerror=stop`;
  const node = await lab.node(project, 'qemu', { ...SMALL, options });
  await lab.expect(200, 'POST', `${node}/start`);
  const halted = /^N1 stands still: an error of a disk on this host \(read\): Input\/output error; mend the disk, then/;
  assert.match((await lab.told('log.error')).message, halted);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'suspended');
  lab.messages.length = 0;
  await lab.expect(200, 'POST', `${node}/start`);
  assert.match((await lab.told('log.error')).message, halted);
});
