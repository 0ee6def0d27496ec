// Links that the kernel forwards between nodes of the real program.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addAddress, changeLink, getLink, links } from '../../src/host/network/kernel-interfaces.ts';
import { kernelLinksUnavailable } from '../../src/host/network/kernel-link-support.ts';
import { nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import type { TestEngine } from '../compute/docker-engine.ts';
import { ip, removeAfter, uniqueName } from '../fabric/namespaces.ts';
import { FRAME_WORDS, type RecordedFrame, recordedFrames } from '../fabric/recorded.ts';
import { guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { keeperOf, nodeLinks } from '../node-network.ts';
import { watch } from '../watch.ts';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { Lab, type LinkObject, missing, type NodeObject } from './lab.ts';
import { container, engineFor, guestImages, machine, withEngine } from './machines.ts';
import { processesIn } from './processes.ts';
import { openAgain } from './survivors.ts';

const skip = kernelLinksUnavailable() ?? false;
/** Frames of a ping: each has a header of Ethernet and IPv4, one of ICMP, and data. */
const FRAME_BYTES = 14 + 20 + 8 + 56;

interface Arrived {
  frames: number;
  bytes: number;
}

interface Started {
  daemon: Daemon;
  lab: Lab;
  link: LinkObject;
  /** Sends so many requests from the first container to the second, each of which is answered. */
  ping(count: number): void;
}

/** Waits until the container has the address that its first process gives it. */
async function configured(engine: TestEngine, name: string): Promise<void> {
  const words = ['exec', idOf(engine, name), '/gns3/bin/busybox', 'ip', '-4', 'addr', 'show', 'eth0'];
  await eventually(`the address of ${name}`, () => /inet /.test(engine.docker(...words)));
}

const idOf = (engine: TestEngine, name: string): string =>
  engine.docker('ps', '-q', '--filter', `name=GNS3.${name}.`).trim();

/** Sends requests from a container, whether or not the daemon runs, and expects all answers. */
function ping(engine: TestEngine, name: string, address: string, count = 3, bytes = 56): void {
  const words = ['ping', '-c', `${count}`, '-s', `${bytes}`, '-i', '0.05', '-W', '10', address];
  const said = engine.docker('exec', idOf(engine, name), '/gns3/bin/busybox', ...words);
  assert.match(said, new RegExp(`${count} packets transmitted, ${count} packets received`));
}

/** Two containers that know each other's address, so that they send nothing but what they are told to. */
async function startedPair(t: TestContext, engine: TestEngine): Promise<Started> {
  const daemon = await startDaemon(t, withEngine(engine));
  const lab = await Lab.create(daemon);
  const mac = (number: number) => `02:00:5e:00:53:0${number}`;
  const inside = (own: number, other: number) =>
    [
      'echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6',
      `ip link set eth0 address ${mac(own)}`,
      `ip addr add 10.1.0.${own}/24 dev eth0`,
      `arp -s 10.1.0.${other} ${mac(other)}`,
      'exec /bin/sh',
    ].join('; ');
  const nodes: NodeObject[] = [];
  for (const [own, other] of [
    [1, 2],
    [2, 1],
  ] as const)
    nodes.push(await container(lab, `C${own}`, { start_command: `/bin/busybox sh -c '${inside(own, other)}'` }));
  const link = await lab.link(nodes[0]!, nodes[1]!);
  await daemon.post(`${lab.path}/nodes/start`);
  for (const { name } of nodes) await configured(engine, name);
  return { daemon, lab, link, ping: (count) => ping(engine, 'C1', '10.1.0.2', count) };
}

test('a link of containers passes frames while the daemon is killed, and its counters have them afterwards', {
  skip,
}, async (t) => {
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  const { daemon, lab, link, ping } = await startedPair(t, engine);
  const path = `${lab.path}/links/${link.link_id}/statistics`;
  /** What has arrived at each container: frames and bytes. */
  const arrived = async (): Promise<Arrived[]> => {
    const { ends } = await daemon.get(path);
    return ends.map(
      ({ statistics }: { statistics: { incoming: { delivered: Arrived } } }) => statistics.incoming.delivered,
    );
  };
  const pings = (count: number): Arrived[] => [1, 2].map(() => ({ frames: count, bytes: count * FRAME_BYTES }));
  ping(3);
  await daemon.post(`${path}/reset`);
  ping(5);
  assert.deepEqual(await arrived(), pings(5));
  await daemon.kill();
  ping(7);
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(await arrived(), pings(5 + 7));
  ping(2);
  assert.deepEqual(await arrived(), pings(5 + 7 + 2));
  await daemon.kill();
  ping(1);
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(await arrived(), pings(5 + 7 + 2 + 1));
});

test('a link of a container to a bridge of the host is forwarded by the kernel, also while the daemon is killed', {
  skip: skip || (nodeNetworkUnavailable() ?? false),
}, async (t) => {
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  const bridge = uniqueName();
  await ip('link', 'add', bridge, 'type', 'bridge');
  removeAfter(t, bridge);
  addAddress(bridge, '10.213.78.1/24');
  changeLink(bridge, { up: true });
  const ports = (): string[] =>
    links().flatMap((link) => (link.bridge === getLink(bridge).index ? [`${link.kind} ${link.name}`] : []));
  const daemon = await startDaemon(t, withEngine(engine));
  const lab = await Lab.create(daemon);
  const properties = { ports_mapping: [{ name: 'p', port_number: 0, type: 'ethernet', interface: bridge }] };
  const body = { name: 'World', node_type: 'cloud', compute_id: 'local', properties };
  const cloud: NodeObject = await daemon.post(`${lab.path}/nodes`, body);
  const start = "/bin/busybox sh -c 'ip addr add 10.213.78.2/24 dev eth0; exec /bin/sh'";
  const link = await lab.link(await container(lab, 'C1', { start_command: start }), cloud);
  await daemon.post(`${lab.path}/nodes/start`);
  await configured(engine, 'C1');
  const path = async () => (await daemon.get(`${lab.path}/links/${link.link_id}/statistics`)).ends[0].statistics.path;
  ping(engine, 'C1', '10.213.78.1');
  assert.deepEqual(await path(), { by: 'kernel', reason: null });
  const [port = '', ...others] = ports();
  assert.match(port, /^veth gns3tap\d+-0$/);
  assert.deepEqual(others, []);
  await daemon.kill();
  ping(engine, 'C1', '10.213.78.1');
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(ports(), [port], 'the next server uses the same interface');
  ping(engine, 'C1', '10.213.78.1');
  assert.deepEqual(await path(), { by: 'kernel', reason: null });
  // What a killed server has left goes with its lab.
  await daemon.kill();
  await daemon.start();
  await daemon.delete(lab.path);
  await eventually('the bridge without a port', () => ports().length === 0);
});

/** The interfaces of nodes, and of the fabric beside them, among the host's own. */
const onHost = (): string[] => links().flatMap(({ name }) => (/^lw[rb]?[0-9a-f]{8}-/.test(name) ? [name] : []));

test('interfaces of guests and containers are in no network of the host, whatever way their frames take', {
  skip: skip || missing('qemu-system-x86_64', 'tshark') || noGuest,
}, async (t) => {
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  const daemon = await startDaemon(t, withEngine(engine));
  await guestImages(daemon);
  const watching = await watch(t, 'any', 'arp net 10.213.77.0/24 or net 10.213.77.0/24');
  const lab = await Lab.create(daemon);
  const guest = await machine(lab, 'G1', guestSettings('10.213.77.1/24'));
  const start = "/bin/busybox sh -c 'ip addr add 10.213.77.2/24 dev eth0; exec /bin/sh'";
  const link = await lab.link(guest, await container(lab, 'C2', { start_command: start, mtu: 9000 }));
  const path = `${lab.path}/links/${link.link_id}`;
  await daemon.post(`${lab.path}/nodes/start`);
  const typist = new Typist(t, guest.console);
  await typist.until(/guest is ready/);
  await typist.run('ip link set eth0 mtu 9000');
  // Jumbo frames, too, whichever way they take.
  const pings = () => {
    for (const bytes of [56, 8900]) ping(engine, 'C2', '10.213.77.1', 3, bytes);
  };
  pings();
  const { ends } = await daemon.get(`${path}/statistics`);
  assert.deepEqual(ends[0].statistics.path, { by: 'kernel', reason: null });
  await daemon.put(path, { filters: { delay: [1, 0] } });
  pings();
  await daemon.put(path, { filters: {} });
  assert.deepEqual(onHost(), []);
  await daemon.kill();
  pings();
  await daemon.start();
  await openAgain(lab);
  pings();
  assert.deepEqual(onHost(), []);
  assert.equal(await watching.end(), '');
  await daemon.end('SIGTERM');
  assert.deepEqual(processesIn(daemon.state), [], 'nothing keeps the namespace');
});

/** What a program that reads raw frames sees of TCP at an interface in a process's network while `task` runs. */
async function rawPackets(
  t: TestContext,
  [link, process]: [string, number | undefined],
  task: () => Promise<void>,
): Promise<RecordedFrame[]> {
  const watching = await watch(t, link, 'tcp', FRAME_WORDS, process);
  await task();
  // It prints what it has seen a moment later.
  for (let before = -1; before < watching.said().length; ) {
    before = watching.said().length;
    await sleep(2000);
  }
  return recordedFrames(await watching.end());
}

for (const kernel_links of ['automatic', 'off'] as const)
  test(`a container without offload sees complete checksums and no packet above its MTU (kernel_links ${kernel_links})`, {
    skip: skip || missing('tshark', 'nsenter'),
  }, async (t) => {
    const engine = await engineFor(t);
    if (typeof engine === 'string') return t.skip(engine);
    const config = `[Server]\nkernel_links = ${kernel_links}\n`;
    const daemon = await startDaemon(t, { ...withEngine(engine), config });
    const lab = await Lab.create(daemon);
    const start = (address: string) => `/bin/busybox sh -c 'ip addr add ${address}/24 dev eth0; exec /bin/sh'`;
    const usual = await container(lab, 'C1', { start_command: start('10.1.0.1'), mtu: 4000 });
    const properties = { start_command: start('10.1.0.2'), mtu: 4000, offload: false };
    const complete = await container(lab, 'C2', properties);
    const { properties: shown } = await daemon.get(`${lab.path}/nodes/${complete.node_id}`);
    assert.deepEqual([shown.mtu, shown.offload], [4000, false]);
    await lab.link(usual, complete);
    await daemon.post(`${lab.path}/nodes/start`);
    for (const { name } of [usual, complete]) await configured(engine, name);
    const [first, second] = [idOf(engine, 'C1'), idOf(engine, 'C2')];
    const pid = (id: string) => Number(engine.docker('inspect', '-f', '{{.State.Pid}}', id));
    ping(engine, 'C1', '10.1.0.2', 3, 3900);
    const inside = (id: string, script: string) => engine.docker('exec', id, '/gns3/bin/busybox', 'sh', '-c', script);
    for (const id of [first, second])
      inside(id, 'cd /tmp && busybox dd if=/dev/zero of=data bs=64k count=8 && busybox httpd -p 99 -h /tmp');
    /** Each gets half a megabyte from the other. */
    const streams = async (): Promise<void> => {
      inside(first, 'busybox wget -q -O /dev/null http://10.1.0.2:99/data');
      inside(second, 'busybox wget -q -O /dev/null http://10.1.0.1:99/data');
    };
    const packets = await rawPackets(t, ['eth0', pid(second)], streams);
    const received = packets.filter(({ bytes }) => bytes > 3000);
    assert.ok(received.length > 50, `${received.length} long packets`);
    assert.deepEqual(packets.filter(({ bytes, intact }) => bytes > 4014 || !intact).slice(0, 5), []);
    // The other one leaves checksums and the cutting to the link.
    const others = await rawPackets(t, ['eth0', pid(first)], streams);
    assert.ok(others.some(({ bytes, intact }) => bytes > 4014 || !intact));
  });

for (const kernel_links of ['automatic', 'off'] as const)
  test(`a guest with an MTU has it from the start, and without offload gets complete frames (kernel_links ${kernel_links})`, {
    skip: skip || missing('qemu-system-x86_64', 'tshark', 'nsenter') || noGuest,
  }, async (t) => {
    const engine = await engineFor(t);
    if (typeof engine === 'string') return t.skip(engine);
    const daemon = await startDaemon(t, {
      ...withEngine(engine),
      config: `[Server]\nkernel_links = ${kernel_links}\n`,
    });
    await guestImages(daemon);
    const lab = await Lab.create(daemon);
    const guest = await machine(lab, 'G1', { ...guestSettings('10.1.0.1/24'), mtu: 4000, offload: false });
    const { properties: shown } = await daemon.get(`${lab.path}/nodes/${guest.node_id}`);
    assert.deepEqual([shown.mtu, shown.offload], [4000, false]);
    const start = "/bin/busybox sh -c 'ip addr add 10.1.0.2/24 dev eth0; exec /bin/sh'";
    const link = await lab.link(guest, await container(lab, 'C2', { start_command: start, mtu: 4000 }));
    await daemon.post(`${lab.path}/nodes/start`);
    const typist = new Typist(t, guest.console);
    await typist.until(/guest is ready/);
    assert.match(await typist.run('cat /sys/class/net/eth0/mtu'), /\b4000\b/);
    ping(engine, 'C2', '10.1.0.1', 3, 3900);
    const { ends } = await daemon.get(`${lab.path}/links/${link.link_id}/statistics`);
    assert.equal(ends[0].statistics.path.by, kernel_links === 'off' ? 'fabric' : 'kernel');

    const share = 'cd /tmp && busybox dd if=/dev/zero of=data bs=64k count=8 && busybox httpd -p 99 -h /tmp';
    engine.docker('exec', idOf(engine, 'C2'), '/gns3/bin/busybox', 'sh', '-c', share);
    await typist.run(`mkdir -p /tmp; ${share}`);
    const tap = nodeLinks(daemon.state).find(({ name, kind }) => kind === 'tun' && /^lw[0-9a-f]{8}-0$/.test(name))!;
    const packets = await rawPackets(t, [tap.name, keeperOf(daemon.state)], async () => {
      assert.match(await typist.run('wget -q -O /dev/null http://10.1.0.2:99/data && echo got it'), /\bgot it\r/);
      const words = ['/gns3/bin/busybox', 'wget', '-q', '-O', '/dev/null', 'http://10.1.0.1:99/data'];
      engine.docker('exec', idOf(engine, 'C2'), ...words);
    });
    const long = packets.filter(({ bytes }) => bytes > 3000);
    // A busy machine sends shorter ones between.
    assert.ok(long.length > 20, `${long.length} long packets`);
    assert.deepEqual(packets.filter(({ bytes, intact }) => bytes > 4014 || !intact).slice(0, 5), []);

    await daemon.post(`${lab.path}/nodes/${guest.node_id}/stop`);
    const { properties } = await daemon.put(`${lab.path}/nodes/${guest.node_id}`, {
      properties: { mtu: 1500, offload: true },
    });
    assert.deepEqual([properties.mtu, properties.offload], [undefined, undefined], 'as of the release');
  });
