// The disk of a running machine, and the layer of a running container, outlive their host.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { amidChanges } from '../amid-changes.ts';
import { BUSYBOX, tryEngine } from '../compute/docker-engine.ts';
import { guestSettings, noGuest } from '../guest/guest.ts';
import { begun, connected, copiedAgain, joined, noCluster, run, typistOf } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { guestImages, machine } from './machines.ts';
import { TwoHosts } from './two-daemons-network.ts';

const skip = noCluster() || missing('qemu-system-x86_64', 'qemu-img', 'qemu-io') || noGuest;

/** Waits until the node runs on the controller's host. */
const runsOnFirst = (lab: Lab, node: NodeObject): Promise<unknown> =>
  eventually(
    `${node.name} on a`,
    async () => (await lab.node(node)) as NodeObject & { compute_id: string },
    ({ compute_id: on, status }) => on === 'local' && status === 'started',
    60_000,
  );

/** The manifest of the last copy of a node's disks or layer on a controller; empty if there is none. */
function copied(copies: string): string {
  try {
    const { files } = JSON.parse(readFileSync(join(copies, 'manifest.json'), 'utf8')) as {
      files: { path: string; key: string }[];
    };
    const { key } = files.find(({ path }) => path.endsWith('disk-checkpoint/manifest.json')) as { key: string };
    return readFileSync(join(copies, key), 'utf8');
  } catch {
    return '';
  }
}

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
  let shell = typistOf(t, lab, guest);
  await shell.until(/guest is ready/);
  const copies = join(a.state, 'checkpoints', String(lab.project.project_id), guest.node_id);
  const tried = (): string => copied(copies);
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
  const sizes = amidChanges(() => readdirSync(copies).map((name) => statSync(join(copies, name)).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 2 ** 20, `${bytes} bytes`);
  await copiedAgain(a);

  await b.kill();
  await runsOnFirst(lab, guest);
  shell = typistOf(t, lab, guest);
  await shell.until(/guest is ready/);
  assert.match(await read(3), /third-marker/);
  assert.match(await read(40), /second-marker/);
});

/** A cluster with a container on b that has written a file outside its volumes, and its console. */
async function containerOnOther(t: TestContext, cluster: string) {
  const engine = await tryEngine();
  if (typeof engine === 'string') return engine;
  t.after(() => engine[Symbol.asyncDispose]());
  const settings = `[Cluster]\n${cluster}\n[Docker]\nsocket_path = ${engine.socketPath}\n`;
  const { a, b, compute_id } = await joined(t, TwoHosts.make(t), settings);
  const lab = await Lab.create(a, 'Layers');
  const members = { node_type: 'docker', compute_id, console_type: 'telnet', properties: { image: BUSYBOX } };
  const node = (await a.post(`${lab.path}/nodes`, { name: 'C', ...members })) as NodeObject;
  await lab.start(node);
  const shell = typistOf(t, lab, node);
  await shell.run('mkdir /srv; echo first-marker > /srv/file');
  return { a, b, lab, node, shell, compute_id };
}

test('a container whose host is killed runs elsewhere with what it wrote outside its volumes', {
  skip: noCluster(),
}, async (t) => {
  const made = await containerOnOther(t, 'failover_seconds = 2\ncheckpoint_seconds = 1');
  if (typeof made === 'string') return t.skip(made);
  const { a, b, lab, node } = made;
  const copies = join(a.state, 'checkpoints', String(lab.project.project_id), node.node_id);
  await eventually(
    'the copy',
    () => copied(copies),
    (text) => text.includes('/srv/file'),
  );
  await b.kill();
  await runsOnFirst(lab, node);
  assert.match(await typistOf(t, lab, node).run('cat /srv/file'), /first-marker/);
});

test('a container that a drain moves keeps what it wrote outside its volumes until it stopped', {
  skip: noCluster(),
}, async (t) => {
  // No copy is made meanwhile but that of the move.
  const made = await containerOnOther(t, 'checkpoint_seconds = 3600');
  if (typeof made === 'string') return t.skip(made);
  const { a, lab, node, shell, compute_id } = made;
  await shell.run('ln /srv/file /srv/same; rm /etc/passwd');
  const { moved, left } = await a.post(`/v2/computes/${compute_id}/drain?running=restart`);
  assert.deepEqual([moved.length, left], [1, []]);
  await runsOnFirst(lab, node);
  const other = typistOf(t, lab, node);
  assert.match(await other.run('cat /srv/same'), /first-marker/);
  assert.match(await other.run('ls /etc/passwd'), /No such file/);
});
