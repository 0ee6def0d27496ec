// Routers of a lab that runs, with the real Dynamips: they outlive the daemon, and the next one takes them back with their consoles and cables.
// Those whose emulator hangs let themselves be stopped and deleted all the same.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { emulatorOf, makeImage, noDynamips, READY, sender, Typist } from '../compute/router-support.ts';
import { eventually, ownDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';
import { Lab, type NodeObject } from './lab.ts';
import { Listener } from './notifications.ts';
import { processesIn } from './processes.ts';
import { openAgain, pidOf } from './survivors.ts';

const CONFIGURATION = 'hostname %h\nend\n';

/** A lab of routers with these names, on a daemon of its own. */
async function routers(t: TestContext, ...names: string[]): Promise<{ lab: Lab; made: NodeObject[] }> {
  const daemon = ownDaemon(t, { program: FROM_SOURCE });
  await daemon.start();
  const images = join(daemon.state, 'images/IOS');
  mkdirSync(images, { recursive: true });
  const image = await makeImage(images, 'c3600');
  const lab = await Lab.create(daemon);
  const properties = {
    platform: 'c3600',
    image,
    ram: 64,
    slot0: 'NM-1FE-TX',
    slot1: 'NM-4T',
    startup_config_content: CONFIGURATION,
  };
  const made: NodeObject[] = [];
  for (const name of names) {
    const body = { name, node_type: 'dynamips', compute_id: 'local', properties };
    made.push(await daemon.post(`${lab.path}/nodes`, body));
  }
  return { lab, made };
}

/** Joins port 0 of this adapter of both. */
async function cable(lab: Lab, one: NodeObject, other: NodeObject, adapter_number: number): Promise<void> {
  const nodes = [one, other].map(({ node_id }) => ({ node_id, adapter_number, port_number: 0 }));
  await lab.daemon.post(`${lab.path}/links`, { nodes });
}

test('routers, their consoles and their links are there again after a kill of the daemon', {
  skip: noDynamips,
}, async (t) => {
  const { lab, made } = await routers(t, 'R1', 'R2');
  const { daemon } = lab;
  const [one, other] = made as [NodeObject, NodeObject];
  for (const adapter of [0, 1]) await cable(lab, one, other, adapter);
  await daemon.post(`${lab.path}/nodes/start`);
  const pids = [one, other].map(pidOf);
  await new Typist(t, one.console).sees(READY);
  await daemon.post(`${lab.path}/nodes/${other.node_id}/suspend`);

  await daemon.kill();
  // As if the router had saved another one meanwhile.
  const configuration = join(one.node_directory, 'configs/i1_startup-config.cfg');
  writeFileSync(configuration, '!\nhostname Older\nend\n');
  await daemon.start();
  await openAgain(lab);
  assert.equal(readFileSync(configuration, 'utf8'), '!\nhostname R1\nend\n');
  const nodes = await lab.nodes();
  assert.deepEqual(
    nodes.map(({ name, status, console }) => [name, status, console]),
    [
      ['R1', 'started', one.console],
      ['R2', 'suspended', other.console],
    ],
  );
  assert.deepEqual(nodes.map(pidOf), pids);
  for (const pid of pids) {
    const { lines } = await (await emulatorOf(t, pid!)).run('nio list');
    assert.deepEqual(lines.toSorted(), ['cable_0_0', 'cable_1_0']);
  }
  const typist = new Typist(t, one.console);
  typist.socket.write('again');
  await typist.sees('again');
  // As the router would: what comes out of its port reaches the other one.
  await daemon.post(`${lab.path}/nodes/${other.node_id}/resume`).catch(() => {});
  const seen = join(daemon.directory, 'seen.pcap');
  const peer = await emulatorOf(t, pids[1]!);
  await peer.run('nio bind_filter', ['cable_0_0', 0, 'capture']);
  await peer.run('nio setup_filter', ['cable_0_0', 0, 'en10mb', seen]);
  const send = await sender(t, await emulatorOf(t, pids[0]!), [0, 0]);
  const frame = Buffer.concat([Buffer.alloc(6, 0xff), Buffer.alloc(8, 2), Buffer.alloc(60, 'after the kill')]);
  await eventually('the frame at the other router', () => {
    send(frame);
    return existsSync(seen) && readFileSync(seen).includes('after the kill');
  });
  // What was taken back is stopped as if nothing had been.
  await daemon.post(`${lab.path}/nodes/stop`);
  assert.deepEqual(nodes.map(pidOf), [undefined, undefined]);
  await daemon.post(`${lab.path}/nodes/start`);
  await new Typist(t, other.console).sees(READY);
});

test('routers whose emulator hangs are stopped and deleted, and their user is informed that their configuration is lost', {
  skip: noDynamips,
}, async (t) => {
  const { lab, made } = await routers(t, 'Stopped', 'Deleted', 'Neighbour');
  const { daemon } = lab;
  const [stopped, deleted, neighbour] = made as [NodeObject, NodeObject, NodeObject];
  for (const adapter of [0, 1]) await cable(lab, deleted, neighbour, adapter);
  await daemon.post(`${lab.path}/nodes/start`);
  const listener = await Listener.at(t, daemon, `${lab.path}/notifications`);
  for (const node of [stopped, deleted]) process.kill(pidOf(node)!, 'SIGSTOP');
  await Promise.all([
    daemon.post(`${lab.path}/nodes/${stopped.node_id}/stop`),
    daemon.delete(`${lab.path}/nodes/${deleted.node_id}`),
  ]);
  for (const { name } of [stopped, deleted]) {
    const lost = new RegExp(`^The configuration of ${name} could not be saved: .*it does not answer within \\d+ s`);
    await listener.sees('log.warning', ({ message }) => lost.test(message));
  }
  assert.deepEqual(
    (await lab.nodes()).map(({ name, status }) => [name, status]),
    [
      ['Stopped', 'stopped'],
      ['Neighbour', 'started'],
    ],
  );
  for (const { node_directory: directory } of [stopped, deleted]) assert.deepEqual(processesIn(directory), []);
  assert.equal(existsSync(deleted.node_directory), false);
  assert.deepEqual(await lab.links(), []);
  // Nothing of them is in the way of what comes next.
  for (const adapter of [0, 1]) await cable(lab, stopped, neighbour, adapter);
  await lab.start(stopped);
  await new Typist(t, stopped.console).sees(READY);
});
