import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import type { Fabric } from '../../src/fabric/fabric.ts';
import { emulatorPort, ends, freePort, hubPort, Peer, peerWithCable, settled, startFabric } from './peers.ts';

/** From runts, shorter than an Ethernet header, to the longest UDP packet of IPv4. */
const SIZES = [1, 13, 14, 59, 60, 61, 1514, 1515, 1518, 2048, 4095, 4096, 9018, 16_384, 32_768, 65_506, 65_507];

/** A frame that no shorter or shifted one is equal to. */
function pattern(size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, index) => (index * 31 + (index >> 8) + size) & 0xff));
}

interface Way {
  from: Peer;
  /** The fabric's UDP port that `from` sends to. */
  into: number;
  to: Peer;
  /** Bytes of the shortest frame that passes; shorter ones stop none. */
  shortest?: number;
}

type Make = (t: TestContext, fabric: Fabric) => Promise<[there: Way, back: Way]>;

const ways: Record<string, Make> = {
  'a cable between two emulators of one fabric': async (t, fabric) => {
    const [a, b] = [await emulatorPort(t, fabric), await emulatorPort(t, fabric)];
    const [near, far] = await ends();
    await a.port.connect(near);
    await b.port.connect(far);
    return [
      { from: a.emulator, into: a.localPort, to: b.emulator },
      { from: b.emulator, into: b.localPort, to: a.emulator },
    ];
  },
  'a cable to another host': async (t, fabric) => {
    const { emulator, port, localPort } = await emulatorPort(t, fabric);
    const { peer, cable } = await peerWithCable(t);
    await port.connect(cable);
    return [
      { from: emulator, into: localPort, to: peer },
      { from: peer, into: cable.localPort, to: emulator },
    ];
  },
  'a hub': async (t, fabric) => {
    const hub = await fabric.createDevice('hub', {});
    const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
    return [
      { from: a.peer, into: a.localPort, to: b.peer },
      { from: b.peer, into: b.localPort, to: a.peer },
    ];
  },
  'a switch': async (t, fabric) => {
    const ports = [0, 1].map((number) => ({ number, type: 'access', vlan: 1, etherType: 0x8100 }) as const);
    const device = await fabric.createDevice('ethernet-switch', { ports, ageing: 60_000 });
    const [one, other] = [await peerWithCable(t), await peerWithCable(t)];
    for (const [number, { cable }] of [one, other].entries())
      await (await fabric.createPort({ kind: 'memory', device, number })).connect(cable);
    return [
      { from: one.peer, into: one.cable.localPort, to: other.peer, shortest: 14 },
      { from: other.peer, into: other.cable.localPort, to: one.peer, shortest: 14 },
    ];
  },
  'two hubs and a cable that holds every frame': async (t, fabric) => {
    const [left, right] = [await fabric.createDevice('hub', {}), await fabric.createDevice('hub', {})];
    const [a, b] = [await hubPort(t, fabric, left), await hubPort(t, fabric, right)];
    const [near, far] = await ends();
    const uplink = await fabric.createPort({ kind: 'memory', device: left, number: 1 });
    await uplink.connect(near, { delay: { latency: 2, jitter: 0 } });
    await (await fabric.createPort({ kind: 'memory', device: right, number: 1 })).connect(far);
    return [
      { from: a.peer, into: a.localPort, to: b.peer },
      { from: b.peer, into: b.localPort, to: a.peer },
    ];
  },
};

for (const [title, make] of Object.entries(ways)) {
  test(`frames of every size pass ${title} unaltered, in both directions, and an empty packet stops none`, async (t) => {
    const fabric = await startFabric(t);
    for (const { from, into, to, shortest = 1 } of await make(t, fabric)) {
      for (const size of SIZES) {
        await from.send(into, '', pattern(size));
        if (size >= shortest) assert.deepEqual(await to.take(1), [pattern(size)], `${size} bytes`);
      }
    }
  });
}

test('a frame that is too long for the way out is counted and dropped, and the next one passes', async (t) => {
  if (!Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1')))
    return t.skip('this host has no IPv6 loopback');
  const fabric = await startFabric(t);
  const { emulator, port } = await emulatorPort(t, fabric);
  const peer = await Peer.open(t, { host: '::1' });
  const localPort = await freePort();
  await port.connect({ kind: 'udp', localPort, remoteHost: '::1', remotePort: peer.port });
  // UDP over IPv6 carries 20 bytes more than over IPv4, which is the way to the emulator.
  await peer.send(localPort, pattern(65_527), 'next');
  assert.deepEqual(await emulator.takeText(), ['next']);
  await settled(port, ({ drops }) => drops.tooLong === 1);
});
