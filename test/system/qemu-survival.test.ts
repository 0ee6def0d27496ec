// QEMU machines whose daemon is killed: their displays, a snapshot that it is in the middle of; and starts that are taken back.
// joint-survival.test.ts has machines that just run on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SAVED_STATE } from '../../src/compute/emulators/qemu/disks.ts';
import { saveState } from '../../src/compute/emulators/qemu/machine-state.ts';
import { Qmp } from '../../src/compute/emulators/qemu/qmp.ts';
import { QMP_SOCKET } from '../../src/compute/emulators/qemu/sockets.ts';
import { connectWhenThere } from '../../src/compute/nodes/consoles/unix-sockets.ts';
import { bootSector, TYPEWRITER } from '../compute/qemu-support.ts';
import { lit, RfbClient, see, type } from '../compute/rfb-client.ts';
import { answersSpice, noSpice } from '../compute/spice-client.ts';
import { noGuest } from '../guest/guest.ts';
import { eventually, startDaemon } from './daemon.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { guestImages, machine } from './machines.ts';
import { processesIn } from './processes.ts';
import { openAgain } from './survivors.ts';

const skip = missing('qemu-system-x86_64') || noGuest;
/** The states in a machine's first disk. */
function statesOf({ node_directory }: NodeObject): string {
  const disk = join(node_directory, 'hda_disk.qcow2');
  return spawnSync('qemu-img', ['snapshot', '-U', '-l', disk], { encoding: 'utf8' }).stdout;
}

/** Machines that are started at once. */
const CROWD = 60;

test('consoles of VNC and SPICE go on while the daemon is killed, and are those of their nodes again', {
  skip,
}, async (t) => {
  const daemon = await startDaemon(t);
  await bootSector(await guestImages(daemon), 'typewriter.img', ...TYPEWRITER);
  const lab = await Lab.create(daemon);
  const disk = { hda_disk_image: 'typewriter.img', hda_disk_interface: 'ide' };
  const vnc = await machine(lab, 'V', disk, { console_type: 'vnc' });
  const spice = noSpice ? undefined : await machine(lab, 'S', { ram: 64 }, { console_type: 'spice' });
  await daemon.post(`${lab.path}/nodes/start`);
  const screen = await RfbClient.open(t, vnc.console);
  await see(screen, 'the words of the BIOS', (seen) => lit(seen) > 1500);

  await daemon.kill();
  const bios = lit(await see(screen, 'the same words', (seen) => lit(seen) > 1500));
  await daemon.start();
  await openAgain(lab);
  const { status, console } = await lab.node(vnc);
  assert.deepEqual([status, console], ['started', vnc.console]);
  const next = await RfbClient.open(t, vnc.console);
  await type(next, 'a key to clear the screen', (seen) => lit(seen) < bios / 2);
  await type(next, 'letters', (seen) => lit(seen) > 1000);
  if (spice) await answersSpice(t, spice.console);
  await daemon.post(`${lab.path}/nodes/stop`);
  await assert.rejects(RfbClient.open(t, vnc.console), 'its port is free again');
  await daemon.post(`${lab.path}/nodes/${vnc.node_id}/start`);
  await see(await RfbClient.open(t, vnc.console), 'the words of the BIOS', (seen) => lit(seen) > 1500);
});

test('a daemon that is killed in the middle of a snapshot leaves a machine that goes on', { skip }, async (t) => {
  const daemon = await startDaemon(t);
  const folder = await guestImages(daemon);
  spawnSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(folder, 'empty.qcow2'), '1M']);
  const lab = await Lab.create(daemon);
  const one = await machine(lab, 'M', { hda_disk_image: 'empty.qcow2' });
  await daemon.post(`${lab.path}/nodes/start`);
  // What a snapshot does first: the machine stands still, its memory in its disk.
  await daemon.post(`/v2/compute/projects/${lab.project.project_id}/qemu/nodes/${one.node_id}/state`);
  assert.match(statesOf(one), /LABWIRE/);
  await daemon.kill();
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(
    (await lab.nodes()).map(({ status }) => status),
    ['started'],
  );
  assert.doesNotMatch(statesOf(one), /LABWIRE/);
});

test('a state that a killed daemon saved while it stopped a machine is never loaded: the machine goes on', {
  skip: missing('qemu-system-x86_64'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const folder = join(daemon.state, 'images/QEMU');
  mkdirSync(folder, { recursive: true });
  spawnSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(folder, 'empty.qcow2'), '1M']);
  const lab = await Lab.create(daemon);
  const one = await machine(lab, 'M', { hda_disk_image: 'empty.qcow2', on_close: 'save_vm_state' });
  await daemon.post(`${lab.path}/nodes/start`);
  await daemon.kill();
  const socket = await connectWhenThere(one.node_directory, QMP_SOCKET, () => true);
  const qmp = await Qmp.open(socket!);
  await qmp.run('stop');
  await saveState(qmp, SAVED_STATE);
  qmp.close();
  assert.match(statesOf(one), /GNS3_SAVED_STATE/);
  await daemon.start();
  await openAgain(lab);
  assert.equal((await lab.node(one)).status, 'suspended');
  assert.doesNotMatch(statesOf(one), /GNS3_SAVED_STATE/);
});

test('machines that have not begun to start when all are to stop never do', {
  skip: missing('qemu-system-x86_64'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const nodes: NodeObject[] = [];
  for (let index = 0; index < CROWD; index++) nodes.push(await machine(lab, `Q${index}`, {}));
  const isBegun = ({ node_directory }: NodeObject): boolean => existsSync(join(node_directory, 'qemu.log'));
  const starting = daemon.post(`${lab.path}/nodes/start`);
  await eventually('the first to start', () => nodes.some(isBegun));
  await daemon.post(`${lab.path}/nodes/stop`);
  await starting;
  const begun = nodes.filter(isBegun).length;
  assert.ok(begun < CROWD, `all ${begun} were started`);
  assert.deepEqual([...new Set((await lab.nodes()).map(({ status }) => status))], ['stopped']);
  assert.deepEqual(
    nodes.flatMap(({ node_directory }) => processesIn(node_directory)),
    [],
  );
  assert.deepEqual((await daemon.get('/v2/compute/network/ports')).udp_ports, []);
});
