// The end of the controller's server: another host of the cluster is the controller, with every acknowledged change.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { amidChanges } from '../amid-changes.ts';
import { firstEvents, noCluster } from './cluster-hosts.ts';
import { type Ask, controls, copied, type Placed, pair, placed } from './cluster-pair.ts';
import { type Daemon, eventually } from './daemon.ts';
import { Lab, missing } from './lab.ts';
import { machine } from './machines.ts';
import { reaches, type } from './pc-typing.ts';

const skip = noCluster();

test('another host is the controller after the death of the first one, with all that was acknowledged, and back again', {
  skip,
}, async (t) => {
  const { a, b, idOfB, onA, onB } = await pair(t);
  const lab = await Lab.create(a, 'Open');
  assert.equal((await onB('GET', lab.path)).body.name, 'Open', 'passed on to the controller');
  const there = await lab.pc('There', { compute_id: idOfB });
  const here = await lab.pc('Here');
  await lab.link(there, here);
  for (const [pc, address] of [
    [there, '10.0.0.1'],
    [here, '10.0.0.2'],
  ] as const) {
    await lab.start(pc);
    await type(lab, pc, `ip ${address}/24`);
    await type(lab, pc, 'save');
  }
  const closed = await Lab.create(a, 'Closed');
  await closed.pc('Inside');
  const symbol = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  assert.equal((await a.ask('POST', '/v2/symbols/ours.svg/raw', { body: symbol })).status, 200);
  await a.post('/v2/templates', { name: 'Ours', template_type: 'vpcs', compute_id: 'local' });
  const saved = ['ip 10.0.0.1 24', 'ip 10.0.0.2 24'];
  await copied(b, lab.project.project_id, saved);
  const last = await lab.pc('Last', { compute_id: idOfB });
  await a.post(`${closed.path}/close`);
  const begin = performance.now();
  await a.kill();
  await controls(b, 1);
  t.diagnostic(`the other host is the controller after ${Math.round(performance.now() - begin)} ms`);
  const projects = await onB('GET', '/v2/projects');
  assert.deepEqual(projects.body.map(({ name, status }: { name: string; status: string }) => [name, status]).sort(), [
    ['Closed', 'closed'],
    ['Open', 'opened'],
  ]);
  assert.equal((await onB('GET', `${lab.path}/nodes/${last.node_id}`)).status, 200, 'made just before');
  assert.match(JSON.stringify((await onB('GET', '/v2/templates')).body), /"Ours"/);
  assert.match(JSON.stringify((await onB('GET', '/v2/symbols')).body), /"ours\.svg"/);
  const all: Placed = { There: ['local', 'started'], Here: ['local', 'started'], Last: ['local', 'stopped'] };
  const settled = (ask: Ask, wanted: Placed) =>
    eventually(
      'the nodes',
      () => placed(ask, lab.path),
      (nodes) => JSON.stringify(Object.entries(nodes).sort()) === JSON.stringify(Object.entries(wanted).sort()),
    );
  await settled(onB, all);
  t.diagnostic(`all nodes run after ${Math.round(performance.now() - begin)} ms`);
  assert.equal((await onB('POST', `${closed.path}/open`)).status, 201);
  assert.deepEqual(Object.keys(await placed(onB, closed.path)), ['Inside']);
  assert.equal((await onB('POST', `${closed.path}/close`)).status, 204);
  const made = await onB('POST', `${lab.path}/nodes`, { name: 'Later', node_type: 'vpcs', compute_id: 'local' });
  assert.equal(made.status, 201);

  // The first host is back: it is a compute of the other one.
  const before = a.log.length;
  await a.start();
  await eventually(
    'a',
    async () => JSON.stringify((await onB('GET', '/v2/computes')).body),
    (text) => /"name":"a","[^}]*"connected":true|"connected":true[^}]*"name":"a"/.test(text),
  );
  assert.equal((await onA('GET', `${lab.path}/nodes`)).body.length, 4, 'passed on to the controller');
  assert.doesNotMatch(a.log.slice(before), /labs are open again/);
  await copied(a, lab.project.project_id, saved);
  await b.kill();
  await controls(a, 2);
  const others: Placed = { ...all, Later: ['local', 'stopped'] };
  await settled(onA, others);
  assert.equal((await onA('POST', `${closed.path}/open`)).status, 201);
  await reaches(lab, here, '10.0.0.1');
});

test('after the death of the controller while labs are changed, a client that comes back gets each event once', {
  skip,
}, async (t) => {
  const { a, b, hosts, onA, onB } = await pair(t);
  const lab = await Lab.create(a, 'Busy');
  await lab.pc('Before');
  type Told = { action: string; sequence: string; event: { drawing_id?: string } };
  const heard = (inside: readonly string[], url: string, since: string): Told[] =>
    firstEvents(inside, `${url}${lab.path}/notifications?since=${since}`);
  const [begin] = await eventually(
    'the stream',
    () => heard([], a.url, 'now'),
    (found) => found.length > 0,
  );
  const since = begin!.sequence;
  const acknowledged: string[] = [];
  let isOver = false;
  const draw = async (): Promise<void> => {
    while (!isOver) {
      const made = await onA('POST', `${lab.path}/drawings`, { svg: '<svg width="9" height="9"></svg>' });
      if (made.status === 201) acknowledged.push(made.body.drawing_id);
      else await sleep(20);
    }
  };
  const drawing = Promise.all([draw(), draw(), draw()]);
  await eventually(
    'changes',
    () => acknowledged.length,
    (count) => count > 100,
  );
  await a.kill();
  isOver = true;
  await drawing;
  await controls(b, 1);
  const made = await eventually(
    'a change',
    () => onB('POST', `${lab.path}/drawings`, { svg: '<svg width="9" height="9"></svg>' }),
    ({ status }) => status === 201,
  );
  acknowledged.push(made.body.drawing_id);
  // The last change comes last: with it the stream has everything.
  const events = await eventually(
    'the events',
    () => heard(hosts.compute.inside, b.url, since),
    (found) => found.some(({ event }) => event.drawing_id === made.body.drawing_id),
  );
  const created = events.flatMap(({ action, event }) => (action === 'drawing.created' ? [event.drawing_id] : []));
  assert.equal(new Set(created).size, created.length, 'an event came twice');
  assert.deepEqual(
    acknowledged.filter((id) => !created.includes(id)),
    [],
    'events of acknowledged changes are lost',
  );
  // A change that was interrupted may be there without its event: then the client is told to read again, after the events.
  const [gap, ...more] = events.flatMap(({ action }, at) => (action === 'notifications.gap' ? [at] : []));
  assert.deepEqual(more, []);
  const there: { drawing_id: string }[] = (await onB('GET', `${lab.path}/drawings`)).body;
  const unknown = there.filter(({ drawing_id: id }) => !created.includes(id));
  assert.ok(unknown.length === 0 || gap !== undefined, 'a change without an event and without a gap');
  t.diagnostic(`${created.length} events, ${unknown.length} interrupted changes without one, ${gap ? 'a' : 'no'} gap`);
  assert.ok(
    gap === undefined || events.slice(0, gap).filter(({ action }) => action === 'drawing.created').length >= 100,
  );
  assert.ok(
    !events.some(({ action }) => action === 'node.created'),
    'nodes of a lab that is open again were reported as new',
  );
});

test('a controller that was held up cannot change anything any more, and stops being it', { skip }, async (t) => {
  const { a, b, onA, onB } = await pair(t);
  const lab = await Lab.create(a, 'One');
  const pc = await lab.pc('Runs');
  await lab.start(pc);
  const template = (name: string) => ({ name, template_type: 'vpcs', compute_id: 'local' });
  process.kill(a.pid, 'SIGSTOP');
  const pending = onA('POST', '/v2/templates', template('Late'));
  await controls(b, 1);
  assert.equal((await onB('POST', '/v2/templates', template('New'))).status, 201);
  process.kill(a.pid, 'SIGCONT');
  // No answer, if its connections end first.
  assert.ok([0, 503].includes((await pending).status), 'the change is acknowledged');
  await eventually(
    'a without the controller',
    () => a.log,
    (log) => /this host is the controller no more/.test(log),
  );
  for (const ask of [onA, onB]) {
    const names = await eventually(
      'the templates of b',
      async () => JSON.stringify((await ask('GET', '/v2/templates')).body),
      (text) => text?.includes('"New"') === true,
    );
    assert.doesNotMatch(names, /"Late"/);
  }
  // It runs, on one host or the other.
  await eventually(
    'the node',
    () => placed(onB, lab.path),
    (nodes) => nodes['Runs']?.[1] === 'started',
  );
});

test('without NATS labs run on and are read, and changes are refused as a whole; after a quick restart all is there', {
  skip,
}, async (t) => {
  const { a, nats, onA } = await pair(t);
  const lab = await Lab.create(a, 'One');
  const pc = await lab.pc('Runs');
  await lab.start(pc);
  const add = () => onA('POST', `${lab.path}/nodes`, { name: 'More', node_type: 'vpcs', compute_id: 'local' });
  await nats.stop();
  const refused = await add();
  assert.equal(refused.status, 503);
  assert.match(refused.body.message, /Labs run on/);
  const change = () => onA('PUT', `${lab.path}/nodes/${pc.node_id}`, { x: 77 });
  // When the key counts as lost.
  await eventually('another reason', change, ({ status, body }) => {
    assert.equal(status, 503);
    return /cannot keep changes now\. Labs run on, and can be read/.test(body.message);
  });
  assert.deepEqual(await placed(onA, lab.path), { Runs: ['local', 'started'] });
  assert.match(await type(lab, pc, 'show ip'), /NAME/);
  await nats.start();
  await eventually('a change', add, ({ status }) => status === 201);
  assert.deepEqual(Object.keys(await placed(onA, lab.path)), ['Runs', 'More']);

  await a.kill();
  await a.start();
  // On the same host, or on the other one if the key ended first.
  await eventually(
    'the lab',
    () => placed(onA, lab.path).catch(() => ({})),
    (nodes: Placed) => 'More' in nodes && nodes['Runs']?.[1] === 'started',
  );
});

test('a machine of the dead controller runs on the next one, with its disk and the image that only the dead one had', {
  skip: skip || missing('qemu-system-x86_64', 'qemu-img', 'qemu-io'),
}, async (t) => {
  const { a, b, idOfB, onB } = await pair(t);
  mkdirSync(join(a.state, 'images/QEMU'), { recursive: true });
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(a.state, 'images/QEMU/own.qcow2'), '8M']);
  const lab = await Lab.create(a, 'Disks');
  const guest = await machine(lab, 'Guest', { hda_disk_image: 'own.qcow2', hda_disk_interface: 'ide' });
  await lab.start(guest);
  await a.post(`${lab.path}/nodes/${guest.node_id}/stop`);
  const disk = (host: Daemon): string =>
    join(host.state, lab.path.replace('/v2/', ''), 'project-files/qemu', guest.node_id, 'hda_disk.qcow2');
  execFileSync('qemu-io', ['-f', 'qcow2', '-c', 'write -q -P 90 4M 100k', disk(a)]);
  const image = join(b.state, 'images/QEMU/own.qcow2');
  await eventually('the image on b', () => existsSync(image));
  const copy = (host: Daemon): string[] => {
    const folder = join(host.state, 'checkpoints', String(lab.project.project_id), guest.node_id);
    if (!existsSync(folder)) return [];
    return amidChanges(() =>
      readdirSync(folder).map((name) => `${name} ${readFileSync(join(folder, name), 'latin1')}`),
    );
  };
  const hasPart = (files: readonly string[]): boolean => files.some((text) => text.includes('"16":'));
  await eventually('the copy of the written part', () => copy(a), hasPart);
  await eventually(
    'the same on b',
    () => copy(b).sort(),
    (files) => hasPart(files) && isDeepStrictEqual(files, copy(a).sort()),
  );
  await a.kill();
  await controls(b, 1);
  const moved = async (): Promise<string> => (await placed(onB, lab.path))['Guest']?.join(' ') ?? '';
  await eventually(
    'the machine on b',
    moved,
    (found) => found === `${idOfB} stopped` || found === 'local stopped',
    60_000,
  );
  assert.equal((await onB('POST', `${lab.path}/nodes/${guest.node_id}/start`)).status, 200);
  assert.equal((await onB('POST', `${lab.path}/nodes/${guest.node_id}/stop`)).status, 200);
  const read = execFileSync('qemu-io', ['-f', 'qcow2', '-c', 'read -P 90 4M 100k', disk(b)], { encoding: 'utf8' });
  assert.doesNotMatch(read, /failed/);
});

test('the files of a lab that was deleted while a host was away go when that host is the controller', {
  skip,
}, async (t) => {
  const { a, b, idOfB, onA } = await pair(t);
  const lab = await Lab.create(a, 'Deleted');
  await lab.pc('There', { compute_id: idOfB });
  await a.post(`${lab.path}/close`);
  const folder = join(b.state, 'projects', lab.project.project_id);
  assert.ok(existsSync(folder));
  await b.kill();
  await eventually(
    'b to be away',
    async () => (await onA('GET', `/v2/computes/${idOfB}`)).body,
    (compute) => compute?.connected === false,
  );
  await a.delete(lab.path);
  await a.kill();
  await b.start();
  await controls(b, 1);
  await eventually('no folder', () => !existsSync(folder));
});
