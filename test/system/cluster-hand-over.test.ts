// The role of the controller is handed over, by a command, by draining its host and by the end of its server: nothing acknowledged is lost.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { firstEvents, noCluster, run } from './cluster-hosts.ts';
import { controls, type Pair, type Placed, pair, placed } from './cluster-pair.ts';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab } from './lab.ts';

const skip = noCluster();
const execute = promisify(execFile);

/** Waits until a host can take over. */
async function ready({ hosts, b }: Pair, name: string): Promise<void> {
  await eventually(
    `${name} ready`,
    () => JSON.parse(run(...hosts.compute.inside, ...executable(), 'cluster', 'status', '--json', '--state', b.state)),
    ({ hosts: found }) =>
      found.some((host: Record<string, unknown>) => host['name'] === name && host['standby'] === 'ready'),
  );
}

/** Runs the command on the host of the computes; returns what it says. */
async function handOver({ hosts, b }: Pick<Pair, 'hosts' | 'b'>, ...words: string[]): Promise<string> {
  const [program = '', ...inside] = [...hosts.compute.inside, ...executable()];
  return (await execute(program, [...inside, 'cluster', 'hand-over', ...words, '--state', b.state])).stdout;
}

test('the role goes from host to host while clients change labs, and no acknowledged change is lost', {
  skip,
}, async (t) => {
  const cluster = await pair(t);
  const { a, b, onA, onB } = cluster;
  const lab = await Lab.create(a, 'Open');
  const pc = await lab.pc('Runs');
  await lab.start(pc);
  await ready(cluster, 'b');
  await assert.rejects(handOver(cluster, 'nowhere'), /nowhere cannot be the controller: choose one of b/);
  const drain = `/v2/computes/${cluster.idOfB}`;
  assert.equal((await onA('POST', `${drain}/drain`)).status, 200);
  await assert.rejects(handOver(cluster), /Only hosts that are being drained stand by \(b\): undrain one, or name it/);
  assert.equal((await onA('POST', `${drain}/undrain`)).status, 200);
  /** The first messages of the stream of events, as a client of a's port gets them. */
  const events = (since: string): { action: string; sequence: string; event: { name?: string } }[] =>
    firstEvents([], `${a.url}/v2/notifications?since=${since}`);
  const [start] = await eventually(
    'the stream',
    () => events('now'),
    (found) => found.length > 0,
  );
  const before = start!.sequence;
  const acknowledged: string[] = [];
  let [isOver, tried, gap, last] = [false, 0, 0, performance.now()];
  const changing = (async () => {
    while (!isOver) {
      const ask = tried % 2 === 0 ? onA : onB;
      const name = `T${tried++}`;
      const { status } = await ask('POST', '/v2/templates', { name, template_type: 'vpcs', compute_id: 'local' });
      if (status !== 201) continue;
      acknowledged.push(name);
      gap = Math.max(gap, performance.now() - last);
      last = performance.now();
    }
  })();
  for (const [round, name] of ['b', 'a', 'b'].entries()) {
    const begin = performance.now();
    // Without a name the only other host gets it.
    const said = round === 0 ? await handOver(cluster) : await handOver(cluster, name);
    assert.equal(said, `${name} is the controller now.\n`);
    t.diagnostic(`to ${name} in ${Math.round(performance.now() - begin)} ms`);
    const count = acknowledged.length;
    await eventually(
      'changes',
      () => acknowledged.length,
      (now) => now > count + 10,
    );
  }
  isOver = true;
  await changing;
  // Its event comes last: with it a stream has everything.
  const final = `T${tried++}`;
  const template = { name: final, template_type: 'vpcs', compute_id: 'local' };
  assert.equal((await onB('POST', '/v2/templates', template)).status, 201);
  acknowledged.push(final);
  const names = new Set(((await onB('GET', '/v2/templates')).body as { name: string }[]).map(({ name }) => name));
  assert.deepEqual(
    acknowledged.filter((name) => !names.has(name)),
    [],
  );
  t.diagnostic(`${acknowledged.length} of ${tried} changes acknowledged, ${Math.round(gap)} ms without one at most`);
  // A client that comes back gets what three controllers have emitted: each event once, without a gap.
  const missed = await eventually(
    'the events',
    () => events(before),
    (found) => found.some(({ action, event }) => action === 'template.created' && event.name === final),
  );
  assert.ok(!missed.some(({ action }) => action === 'notifications.gap'), 'a gap after hand-overs');
  const created = missed.flatMap(({ action, event }) => (action === 'template.created' ? [event.name as string] : []));
  // A change whose answer was lost on the way is there, too, with its event.
  assert.deepEqual(created.toSorted(), [...names].filter((name) => /^T\d+$/.test(name)).toSorted());
  assert.deepEqual(
    created.filter((name) => acknowledged.includes(name)),
    acknowledged,
  );
  // Nothing moves with the role.
  await eventually(
    'the node',
    () => placed(onB, lab.path),
    (nodes) => nodes['Runs']?.[1] === 'started',
  );
  assert.notEqual((await placed(onB, lab.path))['Runs']?.[0], 'local');
  assert.doesNotMatch(b.log, /a host is gone/);
});

test('nodes on the former controller keep their files, whatever was kept when their lab was closed', {
  skip,
}, async (t) => {
  const cluster = await pair(t);
  const { a, b, onA, onB } = cluster;
  const lab = await Lab.create(a, 'Files');
  const pc = await lab.pc('Saves');
  const path = `nodes/${pc.node_id}/files/startup.vpc`;
  const file = join(a.state, lab.path.replace('/v2', ''), 'project-files/vpcs', pc.node_id, 'startup.vpc');
  const saved = (): string => readFileSync(file, 'utf8');
  const save = async (body: string): Promise<void> =>
    assert.equal((await a.ask('POST', `${lab.path}/${path}`, { body })).status, 201);
  const listedOnA = (name: string): Promise<unknown> =>
    eventually(
      name,
      () => readFileSync(join(a.state, 'cluster/replica/files.json'), 'utf8'),
      (text) => text.includes(name),
    );
  await save('set pcname BEFORE\n');
  assert.equal((await onA('POST', `${lab.path}/close`)).status, 204);
  await listedOnA(`${pc.node_id}/startup.vpc`);
  assert.equal((await onA('POST', `${lab.path}/open`)).status, 201);
  await save('set pcname AFTERWARDS\n');
  await lab.start(pc);
  await ready(cluster, 'b');
  await handOver(cluster, 'b');
  await controls(b, 1);
  await eventually(
    'the nodes',
    () => placed(onB, lab.path),
    (nodes) => nodes['Saves']?.[1] === 'started',
  );
  /** Waits until a has the files of the controller as they are now. */
  const copiedToA = async (name: string): Promise<void> => {
    writeFileSync(join(b.state, 'projects', lab.project.project_id, name), 'x');
    await listedOnA(name);
  };
  await copiedToA('opened.txt');
  assert.equal(saved(), 'set pcname AFTERWARDS\n');
  // What b has of it is older, and listed again.
  assert.equal((await onB('POST', `${lab.path}/close`)).status, 204);
  await copiedToA('closed.txt');
  assert.equal(saved(), 'set pcname AFTERWARDS\n');
  await handOver(cluster, 'a');
  await controls(a, 2);
  assert.equal(saved(), 'set pcname AFTERWARDS\n');
});

test('when all servers end and another one comes first, it has the newest files of nodes', { skip }, async (t) => {
  const cluster = await pair(t);
  const { a, b, onA } = cluster;
  const lab = await Lab.create(a, 'Files');
  const pc = await lab.pc('Saves');
  const file = join(lab.path.replace('/v2/', ''), 'project-files/vpcs', pc.node_id, 'startup.vpc');
  const save = async (body: string): Promise<void> =>
    assert.equal((await a.ask('POST', `${lab.path}/nodes/${pc.node_id}/files/startup.vpc`, { body })).status, 201);
  await save('set pcname BEFORE\n');
  assert.equal((await onA('POST', `${lab.path}/close`)).status, 204);
  await eventually(
    'the file of the closed lab',
    () => readFileSync(join(a.state, 'cluster/replica/files.json'), 'utf8'),
    (text) => text.includes(`${pc.node_id}/startup.vpc`),
  );
  assert.equal((await onA('POST', `${lab.path}/open`)).status, 201);
  await save('set pcname AFTERWARDS\n');
  await ready(cluster, 'b');
  for (const host of [b, a]) await host.end('SIGTERM');
  await b.start();
  await controls(b, 1);
  assert.equal(readFileSync(join(b.state, file), 'utf8'), 'set pcname AFTERWARDS\n');
});

test('nodes run on when NATS is away while the next controller reopens their lab', { skip }, async (t) => {
  const cluster = await pair(t);
  const { a, b, nats, idOfB, onB } = cluster;
  const lab = await Lab.create(a, 'Runs');
  for (const [name, place] of [
    ['OnA', {}],
    ['OnB', { compute_id: idOfB }],
  ] as const)
    await lab.start(await lab.pc(name, place));
  await ready(cluster, 'b');
  const handingOver = handOver(cluster, 'b').catch(() => {});
  // Its labs open now, which takes some 100 ms.
  for (const end = performance.now() + 60_000; !/this host is the controller now/.test(b.log); await sleep(5))
    assert.ok(performance.now() < end, b.log);
  await nats.pause();
  // More than a change waits for NATS.
  await sleep(5_000);
  process.kill(nats.pid, 'SIGCONT');
  await handingOver;
  t.diagnostic(/does not open again yet/.test(b.log) ? 'refused at first' : 'open before NATS was away');
  // A change without an answer may be in the log all the same: then the role begins again.
  await eventually(
    'both nodes, which nobody starts',
    async () => Object.values(await placed(onB, lab.path).catch((): Placed => ({}))).map(([, status]) => status),
    (found) => found.join() === 'started,started',
  );
});

test('draining the host of the controller, and the end of its server, hand the role over', { skip }, async (t) => {
  const cluster = await pair(t);
  const { a, b, onA, onB } = cluster;
  const lab = await Lab.create(a, 'Open');
  await lab.pc('Moves');
  await eventually(
    'the role handed over by the drain',
    async () => (await onA('POST', '/v2/computes/local/drain', {})).body,
    (drained) => drained?.next_controller === 'b',
  );
  await controls(b, 1);
  await eventually(
    'the node',
    () => placed(onB, lab.path),
    (nodes) => nodes['Moves']?.[0] === 'local',
  );
  const idOfA = (
    await eventually(
      'a',
      async () =>
        ((await onB('GET', '/v2/computes')).body ?? []) as { name: string; compute_id: string; draining?: true }[],
      (found) => found.some(({ name }) => name === 'a'),
    )
  ).find(({ name }) => name === 'a');
  assert.equal(idOfA?.draining, true);
  await onB('POST', `/v2/computes/${idOfA?.compute_id}/undrain`, {});
  await ready(cluster, 'a');
  // As `systemctl reload` for an update.
  const begin = performance.now();
  await b.end('SIGUSR2');
  await controls(a, 2);
  t.diagnostic(`a is the controller ${Math.round(performance.now() - begin)} ms after b was to end`);
  await eventually(
    'the lab',
    async () => (await onA('GET', lab.path)).body?.status,
    (status) => status === 'opened',
  );
});

test('each host that may be the controller has the audit trail of all controllers', { skip }, async (t) => {
  const cluster = await pair(t);
  const { a, b, hosts } = cluster;
  const program = executable();
  const password = join(a.state, '..', 'password');
  writeFileSync(password, 'long enough 1');
  run(...program, 'user', 'add', 'anna', '--role', 'admin', '--password-file', password, '--state', a.state);
  const make = (name: string) =>
    eventually(
      name,
      async () => {
        const body = JSON.stringify({ name, template_type: 'vpcs', compute_id: 'local' });
        const headers = { Authorization: `Basic ${btoa('anna:long enough 1')}` };
        return fetch(`${a.url}/v2/templates`, { method: 'POST', headers, body }).then(
          ({ status }) => status,
          () => 0,
        );
      },
      (status) => status === 201,
    );
  const trail = (state: string): string[] =>
    run(...program, 'audit', '--json', '--state', state)
      .split('\n')
      .flatMap((text) => (text === '' ? [] : [JSON.parse(text)]))
      .filter(({ account, action, status }) => account === 'anna' && action === 'POST /v2/templates' && status === 201)
      .map(({ objects, address }) => `${objects.name} ${/through host/.test(address)}`);
  const have = (lines: readonly string[]) =>
    Promise.all(
      [a, b].map(({ state }) =>
        eventually(
          'the trail',
          () => trail(state).join(),
          (found) => found === lines.join(),
        ),
      ),
    );
  await ready(cluster, 'b');
  await make('One');
  await have(['One false']);
  await handOver({ hosts, b }, 'b');
  await make('Two');
  await have(['One false', 'Two true']);
});

test('a closed lab with disks that are too large for NATS opens only on the host that has them', {
  skip,
}, async (t) => {
  const cluster = await pair(t);
  const { a, b, onA, onB } = cluster;
  const lab = await Lab.create(a, 'Large');
  const pc = await lab.pc('PC');
  const id = lab.path.split('/').pop() as string;
  const disk = join(a.state, 'projects', id, 'project-files/vpcs', pc.node_id, 'hda_disk.qcow2');
  const content = Buffer.alloc(17 * 2 ** 20, 'x');
  mkdirSync(dirname(disk), { recursive: true });
  writeFileSync(disk, content);
  assert.equal((await onA('POST', `${lab.path}/close`)).status, 204);
  await ready(cluster, 'b');
  await handOver(cluster, 'b');
  await controls(b, 1);
  const answer = await eventually(
    'the refusal',
    () => onB('POST', `${lab.path}/open`),
    ({ status }) => status !== 503,
  );
  assert.equal(answer.status, 409);
  assert.match(answer.body.message, /disks.*only on a.*hand-over a/);
  await ready(cluster, 'a');
  await handOver(cluster, 'a');
  await controls(a, 2);
  await eventually(
    'the lab',
    () => onA('POST', `${lab.path}/open`),
    ({ status }) => status === 201,
  );
  assert.ok(readFileSync(disk).equals(content));

  // An open lab stays open, and is one of both hosts.
  await handOver(cluster, 'b');
  await controls(b, 2);
  await eventually(
    'the lab on b',
    () => onB('POST', `${lab.path}/close`),
    ({ status }) => status === 204,
  );
  assert.equal((await onB('POST', `${lab.path}/open`)).status, 201);
});
