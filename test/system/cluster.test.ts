// A cluster of two executables over a real NATS: the second host is behind a masquerade, so that only connections that it makes itself exist.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Nats } from '../cluster/nats.ts';
import { type Daemon, eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing } from './lab.ts';
import { type } from './pc-typing.ts';
import { noNamespaces, TwoHosts } from './two-daemons-network.ts';

const skip = missing('ip', 'curl', 'nft', 'nats-server', 'openssl') || noNamespaces();
const CONFIG = '[VPCS]\nengine = built-in\n';

function run(...words: string[]): string {
  return execFileSync(words[0] as string, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}

/** A namespace behind the compute of `hosts`, which masquerades for it. */
function hidden(t: TestContext, { compute }: TwoHosts): readonly string[] {
  const name = `labwire-hidden-${process.pid}`;
  run('ip', 'netns', 'add', name);
  t.after(() => run('ip', 'netns', 'del', name));
  run('ip', '-n', compute.name, 'link', 'add', 'inner', 'type', 'veth', 'peer', 'name', 'outer', 'netns', name);
  run('ip', '-n', compute.name, 'addr', 'add', '192.168.77.1/24', 'dev', 'inner');
  run('ip', '-n', name, 'addr', 'add', '192.168.77.2/24', 'dev', 'outer');
  for (const [where, device] of [
    [compute.name, 'inner'],
    [name, 'outer'],
    [name, 'lo'],
  ] as const)
    run('ip', '-n', where, 'link', 'set', device, 'up');
  run('ip', '-n', name, 'route', 'add', 'default', 'via', '192.168.77.1');
  const inside = ['ip', 'netns', 'exec', name];
  run(...compute.inside, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
  const rules = 'table ip t { chain c { type nat hook postrouting priority 100; oifname "cable" masquerade; }; }';
  run(...compute.inside, 'nft', rules);
  return inside;
}

const REACHED = /10\.0\.0\.\d icmp_seq=\d ttl=/;

interface Listed {
  compute_id: string;
  name: string;
  connected: boolean;
  last_error: string | null;
}

/** The compute `b` as the controller lists it. */
async function listed(controller: Daemon): Promise<Listed | undefined> {
  return ((await controller.get('/v2/computes')) as Listed[]).find(({ name }) => name === 'b');
}

/** The compute `b`, once it is connected. */
async function connected(controller: Daemon): Promise<Listed> {
  const compute = await eventually(
    'b',
    () => listed(controller),
    (host) => host?.connected === true,
  );
  return compute as Listed;
}

/** A cluster on the host of the controller, and a server on `other` that can join it. */
async function begun(
  t: TestContext,
  hosts: TwoHosts,
  other: readonly string[],
  settings = '',
): Promise<{ a: Daemon; b: Daemon; nats: Nats; line: string }> {
  const program = executable();
  const a = ownDaemon(t, {
    program: [...hosts.controller.inside, ...program],
    host: hosts.controllerAddress,
    config: CONFIG + settings,
    flags: ['--host', '0.0.0.0', '--insecure'],
  });
  const b = ownDaemon(t, { program: [...other, ...program], config: CONFIG });
  const words = ['--name', 'lab', '--host-name', 'a', '--address', hosts.addresses.controller, '--state', a.state];
  const said = run(...program, 'cluster', 'init', ...words);
  const nats = await new Nats(t, join(a.state, 'cluster/nats.conf'), hosts.controller.inside).start();
  await a.start();
  await eventually(
    'the controller',
    () => a.log,
    (log) => /this host takes part in the cluster/.test(log),
  );
  return { a, b, nats, line: /lab:\/\/[^']+/.exec(said)?.[0] as string };
}

test('a host behind a masquerade joins, runs nodes with consoles and events, and survives the end of NATS', {
  skip,
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const behind = hidden(t, hosts);
  const program = executable();
  const { a, b, nats, line } = await begun(t, hosts, behind);
  const onHidden = (...words: string[]): string => run(...behind, ...program, 'cluster', ...words, '--state', b.state);
  assert.match(onHidden('join', line, '--host-name', 'b'), /b, has joined/);
  assert.throws(() => onHidden('join', line, '--host-name', 'b'), /already in the cluster/);
  await b.start();
  const { compute_id } = await connected(a);
  assert.match(onHidden('status'), /^a .*\nb +5 s +192\.168\.77\.2:/m);

  const lab = await Lab.create(a, 'Hidden');
  const pc = await lab.pc('There', { compute_id, properties: { startup_script: 'ip 10.0.0.1/24\n' } });
  await lab.start(pc);
  assert.match(await type(lab, pc, 'show ip'), /10\.0\.0\.1/);
  /** Asks the server of b itself, which only its own host reaches. */
  const own = (...words: string[]): string => run(...behind, 'curl', '--silent', '--fail', ...words);
  const node = `${b.url}/v2/compute/projects/${lab.path.split('/').at(-1)}/vpcs/nodes/${pc.node_id}`;
  // A notification: the node is stopped by its own host.
  const status = async (): Promise<string> =>
    ((await a.get(`${lab.path}/nodes/${pc.node_id}`)) as { status: string }).status;
  own('-X', 'POST', `${node}/stop`);
  await eventually('the notification', status, (now) => now === 'stopped');
  await lab.start(pc);

  // No datagram reaches b: its frames pass NATS.
  const here = await lab.pc('Here', { properties: { startup_script: 'ip 10.0.0.2/24\n' } });
  await lab.start(here);
  const link = await lab.link(here, pc);
  const passes = async (): Promise<boolean> => REACHED.test(await type(lab, here, 'ping 10.0.0.1 -c 2 -w 500'));
  assert.ok(await passes());
  // The longest frame of a link.
  assert.match(await type(lab, pc, 'ping 10.0.0.2 -c 1 -w 1000 -l 9000'), REACHED);
  const { ends } = (await a.get(`${lab.path}/links/${link.link_id}/statistics`)) as {
    ends: { statistics: { path: object } }[];
  };
  assert.deepEqual(
    ends.map(({ statistics }) => statistics.path),
    ['b', 'a'].map((host) => ({
      by: 'relay',
      reason: `no direct way leads to the host ${host}: NATS carries the frames, which is slow`,
    })),
  );
  // A body that is far larger than the window of a stream.
  const bytes = Buffer.alloc(24 << 20, 'labwire');
  const images = `/v2/computes/${compute_id}/qemu/images`;
  const upload = await a.ask('POST', `${images}/large.img`, { body: bytes });
  assert.equal(upload.status < 300, true, upload.text);
  const [image] = (await a.get(images)) as { filesize: number; md5sum: string }[];
  assert.deepEqual([image?.filesize, image?.md5sum], [bytes.length, createHash('md5').update(bytes).digest('hex')]);

  await nats.stop();
  await eventually(
    'the loss of b',
    () => listed(a),
    (host) => host?.connected === false && host.last_error !== null,
  );
  const there = JSON.parse(own(node)) as { status: string };
  assert.equal(there.status, 'started', 'the node runs on');
  assert.match(a.log, /connection to NATS was lost; running nodes go on/);
  assert.equal(await passes(), false);
  await nats.start();
  await connected(a);
  assert.match(await type(lab, pc, 'show ip'), /10\.0\.0\.1/);
  assert.ok(await passes(), 'frames pass again');

  // Killed: its lease ends. Back: the compute connects again.
  await b.kill();
  const lost = await eventually(
    'the loss of b',
    () => listed(a),
    (host) => host?.connected === false && /lease/.test(host.last_error ?? ''),
  );
  assert.match(lost?.last_error ?? '', /the host b holds no lease/);
  await b.start();
  await connected(a);
  const refusal = await a.ask('DELETE', `/v2/computes/${compute_id}`);
  assert.deepEqual([refusal.status, /cluster forget b/.test(refusal.text)], [409, true]);
  assert.match(
    run(...hosts.controller.inside, ...program, 'cluster', 'forget', 'b', '--state', a.state),
    /disconnected/,
  );
  await eventually(
    'a without b',
    () => listed(a),
    (host) => host === undefined,
  );
  assert.equal(readFileSync(`/proc/${nats.pid}/comm`, 'utf8').trim(), 'nats-server');
});

test('nodes of a host that dies, or is cut off, run on another one with their files, and never on both', {
  skip,
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const { a, b, line } = await begun(t, hosts, inside, '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n');
  run(...inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--state', b.state);
  await b.start();
  const { compute_id } = await connected(a);
  const lab = await Lab.create(a, 'Survives');
  const there = (name: string, members: object = {}) => lab.pc(name, { compute_id, ...members });
  const [one, two, idle] = [await there('One'), await there('Two'), await there('Idle')];
  const here = await lab.pc('Here', { properties: { startup_script: 'ip 10.0.0.9/24\n' } });
  const node_type = 'ethernet_switch';
  const joint = (await a.post(`${lab.path}/nodes`, { name: 'SW', node_type, compute_id })) as typeof one;
  const cloud = (await a.post(`${lab.path}/nodes`, { name: 'Out', node_type: 'cloud', compute_id })) as typeof one;
  for (const [port, pc] of [one, two, here].entries()) await lab.link(pc, joint, port);
  for (const pc of [one, two, here]) await lab.start(pc);
  for (const [pc, address] of [
    [one, '10.0.0.1'],
    [two, '10.0.0.2'],
  ] as const) {
    await type(lab, pc, `ip ${address}/24`);
    await type(lab, pc, 'save');
  }
  const passes = async (): Promise<boolean> => {
    const answers = [await type(lab, here, 'ping 10.0.0.1 -c 2 -w 500'), await type(lab, two, 'ping 10.0.0.1 -c 2')];
    return answers.every((answer) => REACHED.test(answer));
  };
  assert.ok(await passes());
  const copies = join(a.state, 'checkpoints', String(lab.project.project_id));
  const copied = (pc: typeof one): string => {
    const folder = join(copies, pc.node_id);
    return existsSync(folder)
      ? readdirSync(folder)
          .map((name) => readFileSync(join(folder, name), 'utf8'))
          .join()
      : '';
  };
  for (const [pc, address] of [
    [one, 'ip 10.0.0.1'],
    [two, 'ip 10.0.0.2'],
  ] as const)
    await eventually(
      `the copy of ${pc.name}`,
      () => copied(pc),
      (text) => text.includes(address),
    );
  // A disk-like file is left out, and the copy says so.
  const large = `${b.url}/v2/compute/projects/${lab.project.project_id}/files/project-files/vpcs/${idle.node_id}/large`;
  run(...inside, 'sh', '-c', `head -c 17000000 /dev/zero | curl --silent --fail --data-binary @- ${large}`);
  const manifest = (): { files: object[]; missing: number } | undefined => {
    const file = join(copies, idle.node_id, 'manifest.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  };
  await eventually('a copy without it', manifest, (found) => found?.missing === 1);
  assert.deepEqual(manifest()?.files, []);
  const placed = async (): Promise<Record<string, [compute: string, status: string]>> => {
    const nodes = (await lab.nodes()) as unknown as { name: string; compute_id: string; status: string }[];
    return Object.fromEntries(nodes.map((node) => [node.name, [node.compute_id, node.status]]));
  };
  /** Nodes that the server of b has. */
  const onB = (): string[] =>
    [one, two, idle].flatMap(({ name, node_id }) => {
      const address = `${b.url}/v2/compute/projects/${lab.project.project_id}/vpcs/nodes/${node_id}`;
      return run(...inside, 'curl', '--silent', address).includes(`"${node_id}"`) ? [name] : [];
    });
  const settled = { One: ['local', 'started'], Two: ['local', 'started'], Idle: ['local', 'stopped'] };
  const away = async (): Promise<void> => {
    await eventually('the nodes on a', placed, (nodes) =>
      Object.entries(settled).every(([name, state]) => isDeepStrictEqual(nodes[name], state)),
    );
    assert.ok(await passes());
    // What leads into a network of its host stays there.
    assert.equal((await placed())['Out']?.[0], compute_id);
  };
  await b.kill();
  await away();
  await b.start();
  await connected(a);
  await eventually('the former nodes gone', onB, (names) => names.length === 0);
  assert.ok(await passes());

  // Back to b, which is then cut off but lives: its nodes run on there until it returns.
  for (const pc of [one, two, idle, joint]) {
    await a.post(`${lab.path}/nodes/${pc.node_id}/stop`);
    await a.put(`${lab.path}/nodes/${pc.node_id}`, { compute_id });
  }
  for (const pc of [one, two]) await lab.start(pc);
  assert.ok(await passes());
  await sleep(2_500); // two rounds of copies
  hosts.plug(false);
  await away();
  assert.deepEqual(onB().sort(), ['Idle', 'One', 'Two']);
  hosts.plug(true);
  await connected(a);
  await eventually('the former nodes gone', onB, (names) => names.length === 0);
  await away();
  assert.match(a.log, /a host is gone; others run its nodes host=b/);
  // Nodes that are on this host need no copy.
  await eventually(
    'the copies gone',
    () => readdirSync(copies).join(),
    (names) => names === cloud.node_id || names === '',
  );
});
