// Clouds with interfaces of this host: the kernel's own stack, its bridges and its VLANs are the other end.
import assert from 'node:assert/strict';
import { closeSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { clusterDirectory, MEMBERSHIP } from '../../src/config/membership.ts';
import {
  addAddress,
  changeLink,
  findLink,
  getLink,
  type Link,
  links,
} from '../../src/host/network/kernel-interfaces.ts';
import { nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import type { Body } from '../body.ts';
import { pollerOf } from '../fabric/crashes.ts';
import { cablePair, cannotMakeInterfaces, ip, Namespace, removeAfter, uniqueName } from '../fabric/namespaces.ts';
import { freePort, Peer, until } from '../fabric/peers.ts';
import { nodeLinks } from '../node-network.ts';
import { type Lab, startLab } from './support.ts';

const skip = cannotMakeInterfaces;

const MAC = '020000000077';
const OWN = 'c6336401'; // 198.51.100.1, which is the peer's
const THEIRS = 'c6336402'; // 198.51.100.2, which is the kernel's at the other end
const PREFIXED = '198.51.100.2/24';

/** "Who has the kernel's address?", and what the answer begins with behind the MAC of whoever answers. */
const QUESTION = Buffer.concat(
  [Buffer.from(`ffffffffffff${MAC}08060001080006040001${MAC}${OWN}000000000000${THEIRS}`, 'hex')],
  60,
);

function isAnswer(frame: Buffer): boolean {
  const hex = frame.toString('hex');
  return hex.startsWith(MAC) && hex.slice(24, 44) === '08060001080006040002' && hex.slice(56, 64) === THEIRS;
}

interface Joined {
  lab: Lab;
  cloud: string;
  port: string;
  peer: Peer;
  /** UDP port of the cable. */
  lport: number;
  send(...frames: Buffer[]): Promise<void>;
}

/** A cloud with one port, and a peer on the cable of that port. */
async function joined(t: TestContext, entry: object, lab?: Lab): Promise<Joined> {
  const own = lab ?? (await startLab(t));
  const cloud = await own.node(await own.project(), 'cloud', {
    ports_mapping: [{ name: 'p', port_number: 0, ...entry }],
  });
  const peer = await Peer.open(t);
  const lport = await freePort();
  const port = `${cloud}/adapters/0/ports/0`;
  await own.expect(201, 'POST', `${port}/nio`, { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: peer.port });
  return { lab: own, cloud, port, peer, lport, send: (...frames) => peer.send(lport, ...frames) };
}

const status = async ({ lab, cloud }: Joined): Promise<Body> => (await lab.expect(200, 'GET', cloud)).status;

/** The host's end of a cable whose other end has an address in a namespace. */
async function cableInto(t: TestContext, namespace: Namespace, address: string): Promise<string> {
  const [outside, inside] = await cablePair(t);
  await namespace.adopt(inside, address);
  return outside;
}

/** A bridge that is up, with these ports. */
async function bridgeWith(t: TestContext, ...ports: string[]): Promise<string> {
  const bridge = uniqueName();
  await ip('link', 'add', bridge, 'type', 'bridge');
  removeAfter(t, bridge);
  changeLink(bridge, { up: true });
  for (const port of ports) changeLink(port, { bridge });
  return bridge;
}

/** What the host's network relies on. */
function addressed(name: string): object {
  const { mtu, macAddress } = getLink(name);
  return { mtu, macAddress };
}

/** Our interface at a bridge. */
function tapAt(bridge: string): Link {
  const { index } = getLink(bridge);
  const found = links().find((link) => link.bridge === index && /^gns3tap\d+-0$/.test(link.name));
  return found ?? assert.fail(`no interface of ours at ${bridge}`);
}

/** Asks until the kernel answers: an interface that has just come up may not hear the first question. */
async function answered({ peer, send }: Joined): Promise<void> {
  await until(async () => {
    await send(QUESTION);
    return peer.heard.some(isAnswer);
  });
}

/** A link of two clouds, each on a bridge with a namespace behind it: the ports, and the interfaces at the bridges. */
async function bridged(t: TestContext, lab: Lab) {
  const project = await lab.project();
  const udp = [await freePort(), await freePort()];
  const sides = [];
  for (const [place, lport] of udp.entries()) {
    const namespace = await Namespace.create(t);
    const bridge = await bridgeWith(t, await cableInto(t, namespace, `198.51.100.${place + 1}/24`));
    const entry = { name: 'p', port_number: 0, type: 'ethernet', interface: bridge };
    const port = `${await lab.node(project, 'cloud', { ports_mapping: [entry] })}/adapters/0/ports/0`;
    const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: udp[1 - place] };
    await lab.expect(201, 'POST', `${port}/nio`, nio);
    sides.push({ namespace, bridge, port, nio });
  }
  const [near, far] = sides as [(typeof sides)[0], (typeof sides)[0]];
  // A port of a bridge that has just come up may drop the first frames.
  const ping = (...words: string[]) => near.namespace.run('ping', '-c', '3', '-i', '0.1', ...words, '198.51.100.2');
  await until(() =>
    ping('-W', '1').then(
      () => true,
      () => false,
    ),
  );
  const statistics = () => lab.expect(200, 'GET', `${near.port}/statistics`);
  return { near, far, ping, statistics };
}

test('the kernel forwards a plain link between bridges, and all frames are counted on both ways', {
  skip: skip || (nodeNetworkUnavailable() ?? false),
}, async (t) => {
  const lab = await startLab(t);
  const { near, far, ping, statistics } = await bridged(t, lab);
  assert.deepEqual((await statistics()).path, { by: 'kernel', reason: null });
  assert.equal(tapAt(near.bridge).kind, 'veth');
  for (const filters of [{}, { delay: [1, 0] }, {}]) {
    await lab.expect(201, 'PUT', `${near.port}/nio`, { ...near.nio, filters });
    const before = await statistics();
    assert.equal(before.path.by, 'delay' in filters ? 'fabric' : 'kernel');
    await ping('-W', '10', '-s', '1400');
    const after = await statistics();
    for (const way of ['outgoing', 'incoming'] as const)
      assert.ok(after[way].delivered.bytes - before[way].delivered.bytes >= 3 * 1442, way);
  }
  for (const { port } of [near, far]) await lab.expect(204, 'DELETE', `${port}/nio`);
  assert.deepEqual(
    links().filter(({ name, bridge }) => /^gns3tap\d+-0$/.test(name) && bridge !== undefined),
    [],
  );
  assert.deepEqual(
    nodeLinks(lab.directory).filter(({ name }) => name.startsWith('lwb')),
    [],
  );
});

test('with kernel_links = off a port on a bridge is a TAP, whose frames the server forwards', { skip }, async (t) => {
  const lab = await startLab(t, { kernel_links: 'off' });
  const { near, statistics } = await bridged(t, lab);
  assert.deepEqual((await statistics()).path, { by: 'fabric', reason: 'kernel_links is off' });
  assert.equal(tapAt(near.bridge).kind, 'tun');
});

test('on a host of a cluster a port on a bridge is a TAP, which ends with the server', { skip }, async (t) => {
  const lab = await startLab(t);
  mkdirSync(clusterDirectory(lab.directory));
  writeFileSync(join(clusterDirectory(lab.directory), MEMBERSHIP), '{}');
  const { near, statistics } = await bridged(t, lab);
  assert.equal((await statistics()).path.by, 'fabric');
  assert.equal(tapAt(near.bridge).kind, 'tun');
});

test("a port on an Ethernet interface reaches the hosts behind it, beside the host's own use of it", {
  skip,
}, async (t) => {
  const namespace = await Namespace.create(t);
  const outside = await cableInto(t, namespace, PREFIXED);
  const made = await joined(t, { type: 'ethernet', interface: outside });
  await answered(made);
  assert.equal(await status(made), 'started');
});

test('a port on a bridge is a port of that bridge, by an interface that goes with the cable', { skip }, async (t) => {
  const namespace = await Namespace.create(t);
  const outside = await cableInto(t, namespace, PREFIXED);
  const bridge = await bridgeWith(t, outside);
  const made = await joined(t, { type: 'ethernet', interface: bridge });
  await answered(made);
  const members = (): string[] =>
    links()
      .filter((link) => link.bridge === getLink(bridge).index)
      .map(({ name }) => name);
  assert.equal(members().filter((name) => /^gns3tap\d+-0$/.test(name)).length, 1);
  await made.lab.expect(204, 'DELETE', `${made.port}/nio`);
  assert.deepEqual(members(), [outside]);
});

test('a bridge keeps its MTU and its MAC address when a cloud comes and goes', { skip }, async (t) => {
  const [one] = await cablePair(t);
  const [two] = await cablePair(t);
  changeLink(one, { mtu: 9000, macAddress: 'fa:00:00:00:00:01' });
  const follower = await bridgeWith(t, one);
  changeLink(two, { mtu: 1400 });
  const fixed = await bridgeWith(t, two);
  await ip('link', 'set', fixed, 'mtu', '1300');
  const empty = await bridgeWith(t);
  const bridges = [follower, fixed, empty];
  const before = bridges.map(addressed);
  assert.deepEqual(before[0], { mtu: 9000, macAddress: 'fa:00:00:00:00:01' });
  const first = await joined(t, { type: 'ethernet', interface: follower });
  const ports = [first];
  for (const bridge of [fixed, empty]) ports.push(await joined(t, { type: 'ethernet', interface: bridge }, first.lab));
  assert.deepEqual(bridges.map(addressed), before);
  assert.deepEqual([tapAt(follower).mtu, tapAt(follower).macAddress.slice(0, 3)], [9000, 'fe:']);
  assert.equal(
    await ip('-6', 'address', 'show', 'dev', tapAt(follower).name),
    '',
    'a port of a bridge has an IPv6 address',
  );

  // The host changes its network while the cloud is connected.
  changeLink(one, { mtu: 9100 });
  changeLink(two, { mtu: 9000 });
  await ip('link', 'set', fixed, 'mtu', '8000');
  await until(async () => getLink(follower).mtu === 9100 && tapAt(fixed).mtu >= 8000);
  assert.equal(getLink(fixed).mtu, 8000);

  for (const { lab, port } of ports) await lab.expect(204, 'DELETE', `${port}/nio`);
  assert.deepEqual(addressed(follower), { mtu: 9100, macAddress: 'fa:00:00:00:00:01' });
  assert.equal(getLink(fixed).mtu, 8000);
});

test('when a thread of the fabric dies, a port on a bridge is a port of it again', { skip }, async (t) => {
  const namespace = await Namespace.create(t);
  const outside = await cableInto(t, namespace, PREFIXED);
  const bridge = await bridgeWith(t, outside);
  const made = await joined(t, { type: 'ethernet', interface: bridge });
  await answered(made);
  closeSync(pollerOf(made.lport));
  await made.lab.request('GET', `${made.port}/statistics`);
  await made.lab.told('log.error', ({ message }) => /has crashed/.test(message));
  made.peer.heard.length = 0;
  await answered(made);
});

test('a missing TAP is made, and goes with the node; the host itself is its other end', {
  skip,
}, async (t) => {
  const name = `tap${uniqueName()}`;
  const made = await joined(t, { type: 'tap', interface: name });
  removeAfter(t, name);
  addAddress(name, PREFIXED);
  await answered(made);
  await made.lab.expect(204, 'DELETE', made.cloud);
  assert.equal(findLink(name), undefined);
});

test('an existing TAP stays when the node goes', { skip }, async (t) => {
  const name = `tap${uniqueName()}`;
  await ip('tuntap', 'add', 'dev', name, 'mode', 'tap');
  removeAfter(t, name);
  changeLink(name, { up: true });
  addAddress(name, PREFIXED);
  const made = await joined(t, { type: 'tap', interface: name });
  await answered(made);
  await made.lab.expect(204, 'DELETE', made.cloud);
  assert.equal(getLink(name).kind, 'tun');
});

test('VLAN tags pass two clouds and the cable between their interfaces as they are', { skip }, async (t) => {
  const [one, two] = await cablePair(t);
  const near = await joined(t, { type: 'ethernet', interface: one });
  const far = await joined(t, { type: 'ethernet', interface: two }, near.lab);
  const tagged = Buffer.concat([Buffer.from(`0200000000aa${MAC}8100006408004500`, 'hex')], 80);
  const double = Buffer.concat([Buffer.from(`0200000000aa${MAC}88a80064810000c808004500`, 'hex')], 80);
  await near.send(tagged, double);
  const wanted = [tagged, double].map((frame) => frame.toString('hex'));
  await until(async () => wanted.every((hex) => far.peer.heard.some((frame) => frame.toString('hex') === hex)));
});

test("the kernel's VLAN interfaces understand the tags of a cloud", { skip }, async (t) => {
  const namespace = await Namespace.create(t);
  const [outside, inside] = await cablePair(t);
  await namespace.adopt(inside, '192.0.2.2/24');
  const made = await namespace.ip('link', 'add', 'link', inside, 'name', 'v7', 'type', 'vlan', 'id', '7').then(
    () => true,
    () => false,
  );
  if (!made) return t.skip('the kernel of this host has no VLAN interfaces (module 8021q)');
  await namespace.ip('address', 'add', PREFIXED, 'dev', 'v7');
  await namespace.ip('link', 'set', 'v7', 'up');
  const { peer, send } = await joined(t, { type: 'ethernet', interface: outside });
  const tag = Buffer.from('81000007', 'hex');
  const tagged = Buffer.concat([QUESTION.subarray(0, 12), tag, QUESTION.subarray(12)]);
  await until(async () => {
    await send(tagged);
    return peer.heard.some(
      (frame) =>
        frame.subarray(12, 16).equals(tag) && isAnswer(Buffer.concat([frame.subarray(0, 12), frame.subarray(16)])),
    );
  });
});

test("a capture at a cloud's port shows what goes to the interface and what comes from it", { skip }, async (t) => {
  const namespace = await Namespace.create(t);
  const outside = await cableInto(t, namespace, PREFIXED);
  const made = await joined(t, { type: 'ethernet', interface: outside });
  const file = { capture_file_name: 'cloud.pcap', data_link_type: 'DLT_EN10MB' };
  const { pcap_file_path: path } = await made.lab.expect(200, 'POST', `${made.port}/start_capture`, file);
  await answered(made);
  await made.lab.expect(204, 'POST', `${made.port}/stop_capture`);
  const bytes = readFileSync(path).toString('hex');
  assert.ok(bytes.includes(QUESTION.toString('hex')) && bytes.includes(`08060001080006040002`));
});

test('a missing interface: the NIO stays, the reason is reported, and the start works once it is there', {
  skip,
}, async (t) => {
  const [one, two] = [uniqueName(), uniqueName()];
  const made = await joined(t, { type: 'ethernet', interface: one });
  assert.match((await made.lab.told('log.error')).message, new RegExp(`no interface ${one} on this host`));
  assert.equal(await status(made), 'stopped');
  const refused = await made.lab.expect(409, 'POST', `${made.cloud}/start`);
  assert.deepEqual([refused.exception, refused.message.includes(one)], ['NodeError', true]);
  await ip('link', 'add', one, 'type', 'veth', 'peer', 'name', two);
  removeAfter(t, one);
  await made.lab.expect(204, 'POST', `${made.cloud}/start`);
  assert.equal(await status(made), 'started');
  await ip('link', 'delete', one);
  const warned = await made.lab.told('log.warning', ({ message }) => message.includes(one));
  assert.match(warned.message, /is (gone|down)/);
});

test('an interface that is not allowed is neither offered nor opened, even when it is named', { skip }, async (t) => {
  const lab = await startLab(t, { allowed_interfaces: 'gns3tap0-7' });
  const made = await joined(t, { type: 'ethernet', interface: 'lo' }, lab);
  assert.match((await lab.told('log.error')).message, /lo is not among those that may be used.*allowed_interfaces/);
  assert.deepEqual((await lab.expect(200, 'GET', made.cloud)).interfaces, []);
});

test('what is no Ethernet interface, and what is no TAP, are refused by name', { skip }, async (t) => {
  const lo = await joined(t, { type: 'ethernet', interface: 'lo' });
  assert.match((await lo.lab.told('log.error')).message, /lo is no Ethernet interface/);
  const [name, other] = [uniqueName(), uniqueName()];
  await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', other);
  removeAfter(t, name);
  const tap = await joined(t, { type: 'tap', interface: name });
  assert.match((await tap.lab.told('log.error')).message, new RegExp(`${name} exists and is no TAP`));
});
