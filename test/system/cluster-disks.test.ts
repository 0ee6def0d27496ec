// The disk of a running machine outlives the host of the machine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWebSocketStream, WebSocket } from 'ws';
import { guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { begun, connected, noCluster, run } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { guestImages, machine } from './machines.ts';
import { TwoHosts } from './two-daemons-network.ts';

const skip = noCluster() || missing('qemu-system-x86_64', 'qemu-img', 'qemu-io') || noGuest;

test('a machine whose host is killed runs elsewhere with its disk of the last copy', { skip }, async (t) => {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const { a, b, line } = await begun(t, hosts, inside, {
    settings: '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n',
  });
  run(...inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--state', b.state);
  const folder = await guestImages(a);
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(folder, 'empty.qcow2'), '64M']);
  await b.start();
  const { compute_id } = await connected(a);
  const lab = await Lab.create(a, 'Disks');
  const disk = { hda_disk_image: 'empty.qcow2', hda_disk_interface: 'virtio', adapters: 1 };
  // Its images reach b from a.
  const guest = await machine(lab, 'Guest', { ...guestSettings('10.0.0.1/24'), ...disk }, { compute_id });
  await lab.start(guest);
  /** By the controller, wherever the machine is. */
  const typist = (): Typist => {
    const address = `${a.url.replace('http', 'ws')}${lab.path}/nodes/${guest.node_id}/console/ws`;
    return new Typist(t, createWebSocketStream(new WebSocket(address, { headers: a.headers })));
  };
  let shell = typist();
  await shell.until(/guest is ready/);
  const copies = join(a.state, 'checkpoints', String(lab.project.project_id), guest.node_id);
  /** Of the manifest of the node's disks. */
  const copied = (): string => {
    const { files } = JSON.parse(readFileSync(join(copies, 'manifest.json'), 'utf8')) as {
      files: { path: string; key: string }[];
    };
    const { key } = files.find(({ path }) => path.endsWith('disk-checkpoint/manifest.json')) as { key: string };
    return readFileSync(join(copies, key), 'utf8');
  };
  const tried = (): string => {
    try {
      return copied();
    } catch {
      return '';
    }
  };
  const write = async (marker: string, megabyte: number): Promise<void> => {
    await shell.run(`echo ${marker} | dd of=/dev/vda bs=1M seek=${megabyte} conv=notrunc,fsync`);
  };
  const read = (megabyte: number): Promise<string> =>
    shell.run(`dd if=/dev/vda bs=1M skip=${megabyte} count=1 | head -c 20`);
  await write('first-marker', 3);
  await eventually('the first copy', tried, (text) => text !== '');
  const before = tried();
  await write('second-marker', 40);
  await write('third-marker', 3);
  await eventually('the copy of what changed', tried, (text) => text !== before && text.includes('"160"'));
  // Only what the guest has written is copied.
  const bytes = readdirSync(copies).reduce((sum, name) => sum + statSync(join(copies, name)).size, 0);
  assert.ok(bytes < 2 ** 20, `${bytes} bytes`);
  await sleep(2_500); // two rounds

  await b.kill();
  const moved = async (): Promise<[string, string]> => {
    const { compute_id: on, status } = (await lab.node(guest)) as NodeObject & { compute_id: string };
    return [on, String(status)];
  };
  await eventually('the machine on a', moved, ([on, status]) => on === 'local' && status === 'started', 60_000);
  shell = typist();
  await shell.until(/guest is ready/);
  assert.match(await read(3), /third-marker/);
  assert.match(await read(40), /second-marker/);
});
