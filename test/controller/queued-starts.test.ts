// Starts that wait for their turn: the stop of their node takes them back, and so do its deletion and the closing of the project.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { noQemu, qemuImg } from '../compute/qemu-support.ts';
import { LabServer, until } from './lab-server.ts';

/** As many machines as start at the same time. */
const SLOTS = 2 * availableParallelism();

test('a pending start is cancelled by a stop, a deletion and a closing, at once', {
  skip: noQemu,
}, async (t) => {
  const server = await LabServer.start(t);
  const { project_id, path: directory } = await server.project('lab', { auto_close: false });
  const nodes = `/v2/projects/${project_id}/nodes`;
  // QEMU with a qemu-img that does nothing until it is told to, and fails then.
  const programs = join(server.state, 'programs');
  await mkdir(join(programs, 'called'), { recursive: true });
  const held = join(programs, 'held');
  await writeFile(held, '');
  await symlink('/usr/bin/qemu-system-x86_64', join(programs, 'qemu-system-x86_64'));
  const script = `#!/bin/sh\n: > ${programs}/called/$$\nwhile [ -e ${held} ]; do sleep 0.05; done\nexit 9\n`;
  await writeFile(join(programs, 'qemu-img'), script, { mode: 0o755 });
  await mkdir(join(server.state, 'images/QEMU'), { recursive: true });
  await qemuImg('create', '-q', '-f', 'qcow2', join(server.state, 'images/QEMU/disk.qcow2'), '1M');
  const properties = {
    ...{ qemu_path: join(programs, 'qemu-system-x86_64'), ram: 16, options: '-machine accel=tcg' },
    ...{ hda_disk_image: 'disk.qcow2' },
  };
  const machine = async (name: string): Promise<string> => {
    const body = { name, node_type: 'qemu', compute_id: 'local', properties };
    return `${nodes}/${(await server.expect(201, 'POST', nodes, body)).node_id}`;
  };
  const start = (node: string) => server.call('POST', `${node}/start`);

  const ahead = await Promise.all(Array.from({ length: SLOTS }, (_none, index) => machine(`Q${index}`)));
  const began = ahead.map(start);
  await until(async () => (await readdir(join(programs, 'called'))).length === SLOTS, 'all that may start at once');

  const node = await machine('late');
  const stopped = start(node);
  await server.expect(200, 'POST', `${node}/stop`);
  const { status, json } = await stopped;
  assert.deepEqual([status, json.message], [409, 'late was stopped before it started.']);
  assert.equal((await server.expect(200, 'GET', node)).status, 'stopped');

  const deleted = start(node);
  await server.expect(204, 'DELETE', node);
  assert.ok([404, 409].includes((await deleted).status));

  const last = await machine('last');
  const closed = start(last);
  const round = server.call('POST', `${nodes}/start`);
  const closing = server.call('POST', `/v2/projects/${project_id}/close`);
  assert.equal((await closed).status, 409);
  assert.ok(existsSync(held), 'nobody ahead had to be waited for');
  await rm(held);
  assert.equal((await closing).status, 204);
  assert.equal((await round).status, 204);
  for (const { status } of await Promise.all(began)) assert.equal(status, 409, 'qemu-img has failed');
  const logs = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('qemu.log'));
  assert.deepEqual(logs, [], 'no machine ran');
});
