// Three hosts, one of which dies: its labs stay open, the rest goes on, nodes are moved, and nothing runs twice when it is back.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { reaches } from './pc-typing.ts';
import { processesIn } from './processes.ts';

const skip = missing('vpcs');

interface Hosted extends NodeObject {
  compute_id: string;
  lost_reason?: string;
}

interface Three {
  controller: Daemon;
  hosts: Record<'b' | 'c', Daemon>;
  lab: Lab;
  /** PC1 here, PC2 and PC3 on b, PC4 on c; links from PC1 to PC2 and from PC3 to PC4. */
  pcs: NodeObject[];
  find(name: string): Promise<Hosted>;
}

async function three(t: TestContext): Promise<Three> {
  const program = FROM_SOURCE;
  const config = '[VPCS]\nengine = vpcs\n';
  const [controller, b, c] = await Promise.all(
    ['127.0.0.2', '127.0.0.3', '127.0.0.4'].map((host) => startDaemon(t, { program, host, config })),
  );
  const hosts = { b: b!, c: c! };
  for (const [id, { port }] of Object.entries(hosts)) {
    const host = id === 'b' ? '127.0.0.3' : '127.0.0.4';
    await controller!.post('/v2/computes', { compute_id: id, name: `Rack ${id}`, protocol: 'http', host, port });
  }
  const lab = await Lab.create(controller!, 'Three');
  const pcs: NodeObject[] = [];
  for (const [index, compute_id] of ['local', 'b', 'b', 'c'].entries()) {
    const properties = { startup_script: `ip 10.0.0.${index + 1}/24\n` };
    pcs.push(await lab.pc(`PC${index + 1}`, { compute_id, properties }));
  }
  await lab.link(pcs[0]!, pcs[1]!);
  await lab.link(pcs[2]!, pcs[3]!);
  assert.equal((await lab.daemon.ask('POST', `${lab.path}/nodes/start`)).status, 204);
  const find = async (name: string): Promise<Hosted> =>
    (await lab.nodes()).find((node) => node.name === name) as Hosted;
  return { controller: controller!, hosts, lab, pcs, find };
}

async function lost({ find }: Three, name: string): Promise<Hosted> {
  return eventually(
    `the loss of ${name}`,
    () => find(name),
    ({ lost_reason: reason }) => reason !== undefined,
    60_000,
  );
}

const programs = ({ state }: Daemon): number => processesIn(join(state, 'projects')).length;

test('a lab goes on without a host that died, its nodes move away, and are removed there when it is back', {
  skip,
}, async (t) => {
  const all = await three(t);
  const { controller, hosts, lab, pcs, find } = all;
  const [pc1, pc2, pc3, pc4] = pcs as [NodeObject, NodeObject, NodeObject, NodeObject];
  const node = (pc: NodeObject): string => `${lab.path}/nodes/${pc.node_id}`;
  const running = await controller.ask('PUT', node(pc4), { body: { compute_id: 'local' } });
  assert.deepEqual([running.status, /PC4 is started; stop it/.test(running.json.message)], [409, true]);

  await hosts.b.kill();
  assert.equal(programs(hosts.b), 2, 'its programs outlive it');
  const { status, lost_reason: reason } = await lost(all, 'PC2');
  assert.equal(status, 'stopped');
  assert.match(reason!, /^The host Rack b is not connected\./);
  assert.equal((await find('PC4')).status, 'started');
  const refused = await controller.ask('POST', `${node(pc2)}/start`);
  assert.deepEqual([refused.status, /Rack b/.test(refused.json.message)], [409, true]);
  const started = await controller.ask('POST', `${lab.path}/nodes/start`);
  assert.equal(started.status, 200);
  assert.deepEqual(
    started.json.left_out.map(({ name }: { name: string }) => name),
    ['PC2', 'PC3'],
  );

  // Closed, opened, copied, kept and exported while it is away.
  await controller.post(`${lab.path}/close`);
  assert.equal(programs(hosts.c), 0);
  await controller.post(`${lab.path}/open`);
  assert.match((await find('PC3')).lost_reason!, /Rack b/);
  await controller.post(`${lab.path}/duplicate`, { name: 'Copy' });
  await controller.post(`${lab.path}/snapshots`, { name: 'Kept' });
  assert.equal((await fetch(`${controller.url}${lab.path}/export`)).status, 200);

  // One goes to this host, one to the other; their links lead there.
  for (const [pc, host] of [
    [pc2, 'local'],
    [pc3, 'c'],
  ] as const) {
    const moved: Hosted = await controller.put(node(pc), { compute_id: host });
    assert.deepEqual([moved.compute_id, moved.status, moved.lost_reason], [host, 'stopped', undefined]);
  }
  assert.equal((await controller.ask('POST', `${lab.path}/nodes/start`)).status, 204);
  await reaches(lab, pc1, '10.0.0.2');
  await reaches(lab, pc4, '10.0.0.3');

  // Between hosts that are there, with its files.
  await controller.post(`${node(pc4)}/stop`);
  const script = readFileSync(join((await find('PC4')).node_directory, 'startup.vpc'), 'utf8');
  const before = (await find('PC4')).node_directory;
  await controller.post(`${node(pc4)}/files/notes.txt`, 'kept');
  await controller.put(node(pc4), { compute_id: 'local' });
  const here = (await find('PC4')).node_directory;
  assert.deepEqual([readFileSync(join(here, 'startup.vpc'), 'utf8'), existsSync(before)], [script, false]);
  assert.equal(readFileSync(join(here, 'notes.txt'), 'utf8'), 'kept');
  await lab.start(pc4);

  await hosts.b.start();
  await eventually(
    'the end of what was moved away',
    () => programs(hosts.b),
    (count) => count === 0,
    60_000,
  );
  const there = join(hosts.b.state, 'projects', lab.project.project_id, 'project-files/vpcs', pc2.node_id);
  await eventually(
    'the end of its files',
    () => existsSync(there),
    (exists) => !exists,
  );
  assert.deepEqual(
    (await lab.nodes()).map(({ status }) => status),
    ['started', 'started', 'started', 'started'],
  );
  await reaches(lab, pc1, '10.0.0.2');
});

test('a host that falls silent is lost as well, and its nodes are what they were when it speaks again', {
  skip,
}, async (t) => {
  const all = await three(t);
  const { controller, hosts, lab, pcs, find } = all;
  process.kill(hosts.b.pid, 'SIGSTOP');
  await lost(all, 'PC2');
  const start = performance.now();
  const { status } = await controller.ask('POST', `${lab.path}/nodes/${pcs[1]!.node_id}/stop`);
  assert.equal(status, 409);
  assert.ok(performance.now() - start < 5_000, 'nobody waits for the silence');
  assert.equal((await controller.ask('POST', `${lab.path}/nodes/start`)).status, 200);

  // This server dies and starts while it is away: the lab is open, with what runs on.
  await controller.kill();
  await controller.start();
  await eventually(
    'the lab',
    async () => (await controller.get(lab.path)).status,
    (now) => now === 'opened',
  );
  await eventually(
    'the nodes',
    async () => (await lab.nodes()).length,
    (count) => count === 4,
  );
  assert.deepEqual([(await find('PC1')).status, (await lost(all, 'PC2')).status], ['started', 'stopped']);
  process.kill(hosts.b.pid, 'SIGCONT');
  await eventually(
    'the return',
    () => find('PC2'),
    (node) => node.status === 'started',
    60_000,
  );
  assert.equal((await find('PC2')).lost_reason, undefined);
  assert.equal(programs(hosts.b), 2);
});
