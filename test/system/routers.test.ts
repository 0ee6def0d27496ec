// Routers of a lab that runs, with the real Dynamips: they outlive the daemon, and the next one takes them back with their consoles and cables.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { emulatorOf, makeImage, noDynamips, READY, sender, Typist } from '../compute/router-support.ts';
import { eventually, ownDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';
import { Lab } from './lab.ts';
import { openAgain, pidOf } from './survivors.ts';

test('routers, their consoles and their links are there again after a kill of the daemon', {
  skip: noDynamips,
}, async (t) => {
  const daemon = ownDaemon(t, { program: FROM_SOURCE });
  await daemon.start();
  const images = join(daemon.state, 'images/IOS');
  mkdirSync(images, { recursive: true });
  const image = await makeImage(images, 'c3600');
  const lab = await Lab.create(daemon);
  const settings = { platform: 'c3600', image, ram: 64, slot0: 'NM-1FE-TX', slot1: 'NM-4T' };
  const make = (name: string) =>
    daemon.post(`${lab.path}/nodes`, { name, node_type: 'dynamips', compute_id: 'local', properties: settings });
  const [one, other] = [await make('R1'), await make('R2')];
  const end = (node_id: string, adapter_number: number) => ({ node_id, adapter_number, port_number: 0 });
  for (const adapter of [0, 1]) {
    await daemon.post(`${lab.path}/links`, { nodes: [end(one.node_id, adapter), end(other.node_id, adapter)] });
  }
  await daemon.post(`${lab.path}/nodes/start`);
  const pids = [one, other].map(pidOf);
  await new Typist(t, one.console).sees(READY);
  await daemon.post(`${lab.path}/nodes/${other.node_id}/suspend`);

  await daemon.kill();
  await daemon.start();
  await openAgain(lab);
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
