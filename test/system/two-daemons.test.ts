// A controller and a compute that are two daemons on two hosts: labs reach across, and survive the end of either.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { capturedFrames } from '../../src/demo/pcap-stream.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { DAEMON_HOMES, type Daemon, eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, type LinkObject, missing, type NodeObject } from './lab.ts';
import { type } from './pc-typing.ts';
import { processesIn } from './processes.ts';
import { noNamespaces, TwoHosts } from './two-daemons-network.ts';

const skip = missing('ip', 'vpcs') || noNamespaces();
const CREDENTIALS = { user: 'labwire', password: 'not a secret' };

interface Pair {
  hosts: TwoHosts;
  controller: Daemon;
  compute: Daemon;
}

/** The compute asks for a password and listens on its address; the controller listens on all of its own. */
async function startPair(t: TestContext): Promise<Pair> {
  const hosts = TwoHosts.make(t);
  const { user, password } = CREDENTIALS;
  const compute = ownDaemon(t, {
    program: [...hosts.compute.inside, ...executable()],
    host: hosts.addresses.compute,
    config: `[Server]\nauth = true\nuser = ${user}\npassword = ${password}\n`,
  });
  const controller = ownDaemon(t, {
    program: [...hosts.controller.inside, ...executable()],
    host: hosts.controllerAddress,
    flags: ['--host', '0.0.0.0', '--insecure'],
  });
  await Promise.all([compute.start(), controller.start()]);
  return { hosts, controller, compute };
}

function register({ controller, compute, hosts }: Pair, more: object = {}): Promise<{ connected: boolean }> {
  const { compute: host } = hosts.addresses;
  const body = { compute_id: 'other', name: 'Other', protocol: 'http', host, port: compute.port, ...CREDENTIALS };
  return controller.post('/v2/computes', { ...body, ...more });
}

interface Across {
  lab: Lab;
  here: NodeObject;
  there: NodeObject;
  link: LinkObject;
}

/** A PC on each host, 10.0.0.1 on the controller's, and a link between them; both started. */
async function labAcross(controller: Daemon): Promise<Across> {
  const lab = await Lab.create(controller, 'Across');
  const script = (last: number): object => ({ properties: { startup_script: `ip 10.0.0.${last}/24\n` } });
  const here = await lab.pc('Here', script(1));
  const there = await lab.pc('There', { compute_id: 'other', ...script(2) });
  const link = await lab.link(here, there);
  await controller.post(`${lab.path}/nodes/start`);
  return { lab, here, there, link };
}

const REACHED = /10\.0\.0\.2 icmp_seq=2 ttl=/;

async function pings(lab: Lab, from: NodeObject): Promise<boolean> {
  return REACHED.test(await type(lab, from, 'ping 10.0.0.2 -c 2 -w 500'));
}

test('a lab across two hosts pings, is captured at the far end, and obeys filters', { skip }, async (t) => {
  const pair = await startPair(t);
  assert.equal((await register(pair)).connected, true);
  const { controller } = pair;
  const { lab, here, there, link } = await labAcross(controller);
  assert.ok(await pings(lab, here));
  assert.match(await type(lab, there, 'show ip'), /10\.0\.0\.2/);

  const url = `${lab.path}/links/${link.link_id}`;
  // Only the far end runs: that is where the capture is taken.
  await controller.post(`${lab.path}/nodes/${here.node_id}/stop`);
  const captured = await controller.post(`${url}/start_capture`, { capture_file_name: 'far.pcap' });
  assert.equal(captured.capture_compute_id, 'other');
  const ended = new AbortController();
  t.after(() => ended.abort());
  const stream = await fetch(`${controller.url}${url}/pcap`, { signal: ended.signal });
  const frames = capturedFrames(stream.body!);
  await type(lab, there, 'ping 10.0.0.1 -c 1 -w 200');
  const first = await frames.next();
  // What asks for the address of PC Here, or is sent to it.
  assert.match(Buffer.from(first.value!.bytes).toString('hex', 12), /^080[06]/);
  await controller.post(`${url}/stop_capture`);
  await lab.start(here);

  for (const [filters, passes] of [
    [{ frequency_drop: [-1] }, false],
    [{}, true],
    [{ packet_loss: [100] }, false],
    [{ delay: [20, 0] }, true],
  ] as const) {
    await controller.put(url, { filters });
    assert.equal(await pings(lab, here), passes, JSON.stringify(filters));
  }
  await controller.put(url, { suspend: true });
  assert.equal(await pings(lab, here), false);
  await controller.put(url, { suspend: false });
  assert.ok(await pings(lab, here));

  const ports = async (): Promise<number> => (await controller.get('/v2/computes/other/ports')).udp_ports.length;
  const before = await ports();
  await controller.delete(url);
  assert.equal(await ports(), before - 1);
});

test('a compute that is killed and started again has its nodes back, running on, and wired as before', {
  skip,
}, async (t) => {
  const pair = await startPair(t);
  await register(pair);
  const { controller, compute } = pair;
  const { lab, here, there, link } = await labAcross(controller);
  assert.ok(await pings(lab, here));
  const before = await lab.nodes();
  await controller.post(`${lab.path}/nodes/${here.node_id}/stop`);
  await controller.post(`${lab.path}/links/${link.link_id}/start_capture`, { capture_file_name: 'far.pcap' });
  await lab.start(here);
  const programs = () => processesIn(join(compute.state, 'projects'));
  const running = programs();
  assert.equal(running.length, 1);

  await compute.kill();
  await eventually(
    'the loss',
    () => controller.get('/v2/computes/other'),
    ({ connected }) => !connected,
  );
  // Who asks meanwhile is told at once.
  const { status, json } = await controller.ask('POST', `${lab.path}/nodes/${there.node_id}/start`);
  assert.equal(status, 409);
  assert.match(json.message, /cannot be reached|not connected/);
  // The node of this host is none of that compute's concern.
  assert.match(await type(lab, here, 'show ip'), /10\.0\.0\.1/);

  await compute.start();
  await eventually('the ping', () => pings(lab, here), Boolean, 20_000);
  assert.deepEqual(programs(), running);
  const without = ({ command_line, ...rest }: NodeObject): object => rest;
  assert.deepEqual((await lab.nodes()).map(without), before.map(without));
  await eventually(
    'the capture',
    () => controller.get(`${lab.path}/links/${link.link_id}`),
    ({ capturing, capture_file_name: name }) => capturing && name === 'far-2.pcap',
  );
});

test('a controller that is killed and started again finds its computes, and its labs as they run', {
  skip,
}, async (t) => {
  const pair = await startPair(t);
  await register(pair);
  const { controller, compute } = pair;
  const { lab, here } = await labAcross(controller);
  assert.ok(await pings(lab, here));
  const programs = () => [controller, compute].map(({ state }) => processesIn(join(state, 'projects')));
  const running = programs();
  await controller.kill();
  await controller.start();
  await eventually('the ping', () => pings(lab, here), Boolean, 20_000);
  assert.deepEqual(programs(), running);
  assert.deepEqual(
    (await lab.nodes()).map(({ status }) => status),
    ['started', 'started'],
  );
  assert.equal((await controller.get('/v2/computes/other')).user, CREDENTIALS.user);
});

test('a cable that is pulled ends calls within half a minute, and the lab runs on when it is back', {
  skip,
}, async (t) => {
  const pair = await startPair(t);
  await register(pair);
  const { controller, hosts } = pair;
  const { lab, here, there } = await labAcross(controller);
  assert.ok(await pings(lab, here));
  hosts.plug(false);
  const [load, start] = [new OtherLoad(DAEMON_HOMES), performance.now()];
  const call = controller.ask('POST', `${lab.path}/nodes/${there.node_id}/reload`);
  // Everything else goes on.
  const other = await Lab.create(controller, 'Other');
  await other.start(await other.pc('PC1'));
  const othersWaited = performance.now() - start;
  const { status, json } = await call;
  assert.deepEqual([status, /no longer answers/.test(json.message)], [409, true], json.message);
  const seconds = (performance.now() - start) / 1000;
  await judge(t, { what: 'others are served', value: othersWaited / 1000, limit: 5, unit: 's', load });
  await judge(t, { what: 'the call ends', value: seconds, limit: 35, unit: 's', load });
  assert.equal((await controller.get('/v2/computes/other')).connected, false);

  hosts.plug(true);
  await eventually(
    'the connection',
    () => controller.get('/v2/computes/other'),
    ({ connected }) => connected,
    20_000,
  );
  assert.equal((await lab.node(there)).status, 'started');
  await eventually('the ping', () => pings(lab, here), Boolean, 20_000);
});
