// An image that only one host of a cluster has reaches the host of a node that needs it.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ImageObject, OperationObject } from '../../src/api/objects.ts';
import { begun, connected, noCluster, run } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing } from './lab.ts';
import { machine } from './machines.ts';
import { TwoHosts } from './two-daemons-network.ts';

const skip = noCluster() || missing('qemu-system-x86_64', 'qemu-img');
const MIB = 2 ** 20;

test('an image that another host has arrives once, goes on after a cut, and lists say who has it', {
  skip,
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const { a, b, line } = await begun(t, hosts, inside, { settings: '[Cluster]\ncheckpoint_seconds = 1\n' });
  run(...inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--state', b.state);
  const content = randomBytes(256 * MIB);
  const md5 = createHash('md5').update(content).digest('hex');
  mkdirSync(join(b.state, 'images/QEMU'), { recursive: true });
  writeFileSync(join(b.state, 'images/QEMU/only.img'), content);
  await b.start();
  const { compute_id } = await connected(a);
  const lab = await Lab.create(a, 'Images');
  const uploads = async (): Promise<OperationObject[]> =>
    ((await a.get('/v2/operations')) as OperationObject[]).filter(({ kind }) => kind === 'upload');
  // Three nodes at once.
  const making = Promise.all(['X', 'Y', 'Z'].map((name) => machine(lab, name, { hda_disk_image: 'only.img' })));
  making.catch(() => {});
  const moving = await eventually('the middle of the transfer', uploads, ([one]) => (one?.done ?? 0) > 16 * MIB);
  assert.equal(moving.length, 1);
  await b.kill();
  await b.start();
  await making;
  assert.match(a.log, /an image goes on where it was cut .*from=b/);
  const arrived = readFileSync(join(a.state, 'images/QEMU/only.img'));
  assert.equal(createHash('md5').update(arrived).digest('hex'), md5);
  const listed = (await a.get('/v2/computes/auto/images')) as ImageObject[];
  const sorted = listed.map(({ filename, computes, md5sum }) => [filename, computes?.toSorted(), md5sum]);
  assert.deepEqual(sorted, [['only.img', ['local', compute_id].toSorted(), md5]]);
  const shown = run(...hosts.controller.inside, ...executable(), 'image', 'list', '--server', a.url);
  assert.match(shown, /^only\.img +qemu +256\.0 MiB +\S+, \S+ +3 users$/m);

  // An image of a node on b alone is copied before it is needed, so that the node can run elsewhere.
  writeFileSync(join(b.state, 'images/QEMU/second.img'), content.subarray(0, MIB));
  await machine(lab, 'There', { hda_disk_image: 'second.img' }, { compute_id });
  const second = async (): Promise<string[]> => {
    const all = (await a.get('/v2/computes/auto/images')) as ImageObject[];
    return all.find(({ filename }) => filename === 'second.img')?.computes?.toSorted() ?? [];
  };
  await eventually('a second copy', second, (ids) => ids.join() === ['local', compute_id].toSorted().join());
});
