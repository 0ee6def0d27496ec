// QEMU machines that outlive the daemon: the next one has their processes, consoles, limits and cables again. Most of them are machines
// without a guest, which rest in their BIOS.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bootSector, TYPEWRITER } from '../compute/qemu-support.ts';
import { lit, RfbClient, see, type } from '../compute/rfb-client.ts';
import { answersSpice, noSpice } from '../compute/spice-client.ts';
import { Client } from '../consoles/harness.ts';
import { copyGuest, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { processesIn } from './processes.ts';
import { openAgain } from './survivors.ts';

const skip = missing('qemu-system-x86_64') || noGuest;
/** Machines beside the two guests. */
const MACHINES = 6;
/** Machines that are started at once. */
const CROWD = 60;

const EMULATED = { platform: 'x86_64', ram: 16, options: '-machine accel=tcg', process_priority: 'normal' };

async function machine(lab: Lab, name: string, properties: object, more: object = {}): Promise<NodeObject> {
  const body = { name, node_type: 'qemu', compute_id: 'local', properties: { ...EMULATED, ...properties }, ...more };
  return lab.daemon.post(`${lab.path}/nodes`, body);
}

async function images(daemon: Daemon): Promise<string> {
  const folder = join(daemon.state, 'images/QEMU');
  mkdirSync(folder, { recursive: true });
  await copyGuest(folder);
  return folder;
}

async function startedLab(t: TestContext): Promise<{ daemon: Daemon; lab: Lab; nodes: NodeObject[] }> {
  const daemon = await startDaemon(t);
  await images(daemon);
  const lab = await Lab.create(daemon);
  const guests = [
    await machine(lab, 'G1', guestSettings('10.0.0.1/24')),
    await machine(lab, 'G2', guestSettings('10.0.0.2/24')),
  ];
  await lab.link(guests[0]!, guests[1]!);
  const others: NodeObject[] = [];
  for (let index = 0; index < MACHINES; index++) {
    const throttled = index === 0 && !missing('cpulimit') ? { cpu_throttling: 10 } : {};
    others.push(await machine(lab, `Q${index}`, { adapters: 2, ...throttled }));
  }
  for (let index = 0; index + 1 < MACHINES; index += 2) await lab.link(others[index]!, others[index + 1]!);
  await daemon.post(`${lab.path}/nodes/start`);
  return { daemon, lab, nodes: [...guests, ...others] };
}

test('machines go on while the daemon is killed, and are all taken back', { skip }, async (t) => {
  const { daemon, lab, nodes } = await startedLab(t);
  const [first, second, ...others] = nodes as [NodeObject, NodeObject, ...NodeObject[]];
  const typist = new Typist(t, first.console);
  await typist.until(/guest is ready/);
  await new Typist(t, second.console).until(/guest is ready/);
  assert.match(await typist.run('ping -c 1 -W 20 10.0.0.2'), /1 packets received/);
  const processes = (): number[][] => nodes.map(({ node_directory }) => processesIn(node_directory));
  const before = processes();
  assert.equal(before.flat().length, nodes.length + (missing('cpulimit') ? 0 : 1));

  await daemon.kill();
  assert.deepEqual(processes(), before);
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(
    (await lab.nodes()).map(({ status }) => status),
    nodes.map(() => 'started'),
  );
  assert.deepEqual(processes(), before);

  const again = new Typist(t, first.console);
  assert.match(await again.run('ping -c 3 -W 20 10.0.0.2'), /[1-3] packets received/, 'console and cable');
  const reset = await Client.open(t, others[0]!.console);
  await daemon.post(`${lab.path}/nodes/${others[0]!.node_id}/console/reset`);
  await reset.ends();
  const [link] = await lab.links();
  await daemon.delete(`${lab.path}/links/${link!.link_id}`);
  assert.match(await again.run('ping -c 1 -W 1 10.0.0.2'), /0 packets received/, 'a cable that is taken away');
  const { files } = await daemon.get(`${lab.path}/nodes/${first.node_id}/disk_use`);
  assert.deepEqual(
    files.map(({ path }: { path: string }) => path),
    ['qemu.log'],
  );
  await daemon.post(`${lab.path}/nodes/stop`);
  await eventually('all processes to be over', () => processes().flat().length === 0);
});

test('consoles of VNC and SPICE go on while the daemon is killed, and are those of their nodes again', {
  skip,
}, async (t) => {
  const daemon = await startDaemon(t);
  await bootSector(await images(daemon), 'typewriter.img', ...TYPEWRITER);
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
  const folder = await images(daemon);
  spawnSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(folder, 'empty.qcow2'), '1M']);
  const lab = await Lab.create(daemon);
  const one = await machine(lab, 'M', { hda_disk_image: 'empty.qcow2' });
  await daemon.post(`${lab.path}/nodes/start`);
  const kept = (): boolean => {
    const disk = join(one.node_directory, 'hda_disk.qcow2');
    return spawnSync('qemu-img', ['snapshot', '-U', '-l', disk], { encoding: 'utf8' }).stdout.includes('LABWIRE');
  };
  // What a snapshot does first: the machine stands still, its memory in its disk.
  await daemon.post(`/v2/compute/projects/${lab.project.project_id}/qemu/nodes/${one.node_id}/state`);
  assert.ok(kept());
  await daemon.kill();
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(
    (await lab.nodes()).map(({ status }) => status),
    ['started'],
  );
  assert.ok(!kept());
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
