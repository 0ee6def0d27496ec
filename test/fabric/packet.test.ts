import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Fabric, FabricPort, InterfaceChange } from '../../src/fabric/fabric.ts';
import { cablePair, cannotMakeInterfaces, ip, Namespace, removeAfter, transfer, uniqueName } from './namespaces.ts';
import { emulatorPort, ends, type Peer, peerWithCable, settled, startFabric, until } from './peers.ts';

const skip = cannotMakeInterfaces;
const MEGABYTE = 1 << 20;

/** A peer that speaks UDP with a port whose cable is a packet socket. */
async function peerAt(
  t: TestContext,
  fabric: Fabric,
  link: string,
  changed?: (change: InterfaceChange) => void,
): Promise<{ peer: Peer; port: FabricPort; send: (frame: Buffer) => Promise<void> }> {
  const { peer, cable } = await peerWithCable(t);
  const port = await fabric.createPort(cable, changed);
  await port.connect({ kind: 'packet', interface: link });
  return { peer, port, send: (frame) => peer.send(cable.localPort, frame) };
}

/** A frame of 60 bytes for an address that no interface has. */
function frame(text: string, ...tags: string[]): Buffer {
  const header = Buffer.from(`0200000000aa0200000000bb${tags.join('')}88b5`, 'hex');
  return Buffer.concat([header, Buffer.from(text.padEnd(60 - header.length))]);
}

test('a container behind a packet socket pings one behind a TAP, and streams arrive as they were in both directions', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const [one, two] = [await Namespace.create(t), await Namespace.create(t)];
  const [outside, inside] = await cablePair(t);
  const tap = uniqueName();
  const a = await fabric.createPort({ kind: 'packet', interface: outside });
  const b = await fabric.createPort({ kind: 'tap', interface: tap });
  await one.adopt(inside, '10.98.0.1/24');
  await two.adopt(tap, '10.98.0.2/24');
  const [near, far] = await ends();
  await a.connect(near);
  await b.connect(far);
  await one.run('ping', '-c', '2', '-i', '0.1', '-W', '10', '10.98.0.2');
  await transfer(one, two, '10.98.0.2', 8 * MEGABYTE);
  await transfer(two, one, '10.98.0.1', 8 * MEGABYTE);
  const { drops, toCable } = await a.statistics();
  assert.equal(drops.malformed + drops.sendFailed + drops.tooLong, 0);
  assert.ok(toCable.bytes / toCable.frames < 1514);
});

test('frames for anybody pass, with the VLAN tags that the kernel takes out, and those sent do not come back', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const [left, right] = await cablePair(t);
  const [a, b] = [await peerAt(t, fabric, left), await peerAt(t, fabric, right)];
  const frames = [
    frame('no tag'),
    frame('802.1Q, VLAN 5', '81000005'),
    frame('802.1Q, VLAN 4094, priority 7', '8100fffe'),
    frame('802.1ad, VLAN 100', '88a80064'),
    frame('802.1ad, VLAN 100, and 802.1Q, VLAN 5', '88a80064', '81000005'),
    frame('priority alone', '8100e000'),
  ];
  for (const one of frames) await a.send(one);
  assert.deepEqual(await b.peer.take(frames.length), frames);
  await b.send(frame('the answer'));
  assert.deepEqual(await a.peer.take(1), [frame('the answer')]);
  assert.deepEqual([a.peer.heard.length, b.peer.heard.length], [0, 0]);
});

test('two ports on one interface hear what comes in, and not each other', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [left, right] = await cablePair(t);
  const [one, two, other] = [
    await peerAt(t, fabric, left),
    await peerAt(t, fabric, left),
    await peerAt(t, fabric, right),
  ];
  await one.send(frame('from one'));
  await other.peer.take(1);
  await other.send(frame('to both'));
  assert.deepEqual(await one.peer.take(1), [frame('to both')]);
  assert.deepEqual(await two.peer.take(1), [frame('to both')]);
  assert.deepEqual([one.peer.heard.length, two.peer.heard.length], [0, 0]);
});

test('empty packets, runts and frames beyond the MTU are counted; all others pass', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [left, right] = await cablePair(t);
  const [a, b] = [await peerAt(t, fabric, left), await peerAt(t, fabric, right)];
  for (const size of [0, 1, 13, 60, 1514, 1600, 9014, 65_507])
    await a.send(Buffer.concat([frame(''), Buffer.alloc(65_535)]).subarray(0, size));
  assert.deepEqual(
    (await b.peer.take(2)).map(({ length }) => length),
    [60, 1514],
  );
  const { drops } = await settled(a.port, (now) => now.drops.tooLong === 3);
  assert.deepEqual([drops.empty, drops.runt, drops.sendFailed, drops.interfaceDown], [1, 2, 0, 0]);
  for (const link of [left, right]) await ip('link', 'set', link, 'mtu', '65535');
  const jumbo = Buffer.alloc(65_507, frame('jumbo'));
  await a.send(jumbo);
  assert.deepEqual(await b.peer.take(1), [jumbo]);
});

test('an interface that goes down is reported, costs nothing, and works again when it is up', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [left, right] = await cablePair(t);
  const changes: InterfaceChange[] = [];
  const a = await peerAt(t, fabric, left, (change) => changes.push(change));
  const b = await peerAt(t, fabric, right);
  await ip('link', 'set', left, 'down');
  await until(async () => changes.length === 1);
  assert.deepEqual(changes, [{ side: 'cable', interface: left, state: 'down' }]);
  await a.send(frame('lost'));
  assert.deepEqual((await settled(a.port, ({ drops }) => drops.interfaceDown === 1)).interfaces, changes);
  await ip('link', 'set', left, 'up');
  await until(async () => changes.length === 2);
  assert.equal(changes[1]!.state, 'open');
  await until(async () => (await ip('link', 'show', 'dev', left)).includes('state UP'));
  await a.send(frame('there'));
  assert.deepEqual(await b.peer.take(1), [frame('there')]);
});

test('an interface that is down already can be had, and works when it is up', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [left, right] = await cablePair(t);
  await ip('link', 'set', left, 'down');
  const changes: InterfaceChange[] = [];
  const a = await peerAt(t, fabric, left, (change) => changes.push(change));
  await until(async () => changes.length === 1);
  await ip('link', 'set', left, 'up');
  await until(async () => changes.length === 2);
  assert.deepEqual(
    changes.map(({ state }) => state),
    ['down', 'open'],
  );
  await until(async () => (await ip('link', 'show', 'dev', left)).includes('state UP'));
  const b = await peerAt(t, fabric, right);
  await b.send(frame('hello'));
  assert.deepEqual(await a.peer.take(1), [frame('hello')]);
});

test('an interface that is deleted while it is used is found again when one of its name is there', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const [left, right] = await cablePair(t);
  const changes: InterfaceChange[] = [];
  const a = await peerAt(t, fabric, left, (change) => changes.push(change));
  await ip('link', 'delete', left);
  await until(async () => changes.at(-1)?.state === 'gone');
  await a.send(frame('lost'));
  await settled(a.port, ({ drops }) => drops.interfaceDown === 1);
  removeAfter(t, left);
  await ip('link', 'add', left, 'up', 'type', 'veth', 'peer', 'name', right);
  await ip('link', 'set', right, 'up');
  await until(async () => changes.at(-1)?.state === 'open');
  const b = await peerAt(t, fabric, right);
  await until(async () => {
    await a.send(frame('back'));
    return b.peer.heard.length > 0;
  });
  assert.deepEqual((await a.port.statistics()).interfaces, []);
});

test('an interface that cannot be had is reported by its name and the fix', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const { port } = await emulatorPort(t, fabric);
  await assert.rejects(port.connect({ kind: 'packet', interface: 'lw-no-such' }), {
    code: 'conflict',
    message: /no interface lw-no-such.*"ip link"/,
  });
  await assert.rejects(port.connect({ kind: 'packet', interface: 'lo' }), {
    code: 'conflict',
    message: /lo is no Ethernet/,
  });
  const { cable } = await peerWithCable(t);
  await port.connect(cable);
});
