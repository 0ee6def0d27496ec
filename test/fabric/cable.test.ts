import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { type Cable, Fabric } from '../../src/fabric/fabric.ts';
import type { CounterBlock } from '../../src/fabric/plane/counter-memory.ts';
import { FramePlane } from '../../src/fabric/plane/frame-plane.ts';
import { FabricVerbs } from '../../src/fabric/plane/verbs.ts';
import { FrameCalls } from '../../src/host/system-calls.ts';
import { cablePair, cannotMakeInterfaces } from './namespaces.ts';
import { emulatorPort, ends, freePort, hubPort, Peer, peerWithCable, settled, startFabric } from './peers.ts';

test('links to another host take no counters for good', { skip: cannotMakeInterfaces }, async (t) => {
  const [inside] = await cablePair(t);
  const plane = new FramePlane(new FrameCalls(), () => {});
  const verbs = new FabricVerbs(plane, () => {});
  const left: number[] = [];
  const give = plane.counters.give.bind(plane.counters);
  let taken = 0;
  t.mock.method(plane.counters, 'give', (block: CounterBlock) => {
    taken -= block.values.length;
    give(block);
  });
  const take = plane.counters.take.bind(plane.counters);
  t.mock.method(plane.counters, 'take', (size: number) => {
    taken += size;
    return take(size);
  });
  for (const via of [undefined, { interface: inside }, { interface: 'missing' }]) {
    const cable = { kind: 'udp', localPort: await freePort(), remoteHost: '127.0.0.1', remotePort: 9 } as const;
    verbs.createPort({ port: 1, device: null, group: 'lab' });
    const connect = (): void => verbs.connect({ port: 1, cable: { ...cable, ...(via && { via }) }, impairments: {} });
    if (via?.interface === 'missing') assert.throws(connect);
    else connect();
    verbs.closePort({ port: 1 });
    left.push(taken);
  }
  assert.deepEqual(left, [0, 0, 0]);
});

test('a cable accepts packets of its peer alone', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable);
  const stranger = await Peer.open(t);
  await stranger.send(cable.localPort, 'wrong source');
  await peer.send(cable.localPort, 'right source');
  assert.deepEqual(await emulator.takeText(), ['right source']);
});

test('a port accepts packets of its emulator alone', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable);
  const stranger = await Peer.open(t);
  await stranger.send(localPort, 'wrong source');
  await emulator.send(localPort, 'right source');
  assert.deepEqual(await peer.takeText(), ['right source']);
});

test('a cable reaches a peer over IPv6', async (t) => {
  if (!Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1')))
    return t.skip('this host has no IPv6 loopback');
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const peer = await Peer.open(t, { host: '::1' });
  const cable: Cable = { kind: 'udp', localPort: await freePort(), remoteHost: '::1', remotePort: peer.port };
  await port.connect(cable);
  await emulator.send(localPort, 'ping');
  assert.deepEqual(await peer.takeText(), ['ping']);
  await peer.send(cable.localPort, 'pong');
  assert.deepEqual(await emulator.takeText(), ['pong']);
});

test('a UDP port that another program has is refused by its number, and the port can be connected elsewhere', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const stranger = await Peer.open(t);
  const { peer, cable } = await peerWithCable(t);
  await assert.rejects(port.connect({ ...cable, localPort: stranger.port }), {
    name: 'Failure',
    code: 'conflict',
    message: new RegExp(`UDP port ${stranger.port} `),
  });
  await port.connect(cable);
  await emulator.send(localPort, 'ping');
  assert.deepEqual(await peer.takeText(), ['ping']);
});

test('two cables cannot have one UDP port, and a port cannot have two cables', async (t) => {
  const fabric = await startFabric(t);
  const [one, two] = [await fabric.createPort(null), await fabric.createPort(null)];
  const { cable } = await peerWithCable(t);
  await one.connect(cable);
  await assert.rejects(two.connect(cable), { code: 'conflict', message: new RegExp(`${cable.localPort}`) });
  await assert.rejects(one.connect({ kind: 'null' }), { code: 'conflict' });
});

test('wrong addresses are refused by the name of the member', async (t) => {
  const fabric = await startFabric(t);
  const port = await fabric.createPort(null);
  const { cable } = await peerWithCable(t);
  await assert.rejects(port.connect({ ...cable, localPort: 0 }), { code: 'invalid', message: /localPort/ });
  await assert.rejects(port.connect({ ...cable, remotePort: 65_536 }), { code: 'invalid', message: /remotePort/ });
  await assert.rejects(port.connect({ ...cable, remoteHost: 'example.org' }), {
    code: 'invalid',
    message: /remoteHost/,
  });
  await assert.rejects(port.connect(cable, { packetLoss: 101 }), { code: 'invalid', message: /packetLoss/ });
});

test('a cable whose ends are both here is fused: frames cross without the UDP hop, in both directions', async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = [await emulatorPort(t, fabric), await emulatorPort(t, fabric)];
  const [near, far] = await ends();
  await a.port.connect(near);
  assert.equal((await a.port.statistics()).fused, false);
  await b.port.connect(far);
  assert.equal((await a.port.statistics()).fused, true);
  assert.equal((await b.port.statistics()).fused, true);
  await a.emulator.send(a.localPort, 'ping');
  assert.deepEqual(await b.emulator.takeText(), ['ping']);
  await b.emulator.send(b.localPort, 'pong');
  assert.deepEqual(await a.emulator.takeText(), ['pong']);
  assert.deepEqual((await a.port.statistics()).toCable, { frames: 1, bytes: 4 });
});

test('the UDP ports of a fused cable stay taken', async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = [await fabric.createPort(null), await fabric.createPort(null)];
  const [near, far] = await ends();
  await a.connect(near);
  await b.connect(far);
  await assert.rejects(Peer.open(t, { port: near.localPort }), { code: 'EADDRINUSE' });
});

test('when one end of a fused cable goes, the other one speaks UDP again, and fuses again', async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = [await emulatorPort(t, fabric), await emulatorPort(t, fabric)];
  const [near, far] = await ends();
  await a.port.connect(near);
  await b.port.connect(far);
  await b.port.disconnect();
  assert.equal((await a.port.statistics()).fused, false);
  const other = await Peer.open(t, { port: far.localPort });
  await a.emulator.send(a.localPort, 'ping');
  assert.deepEqual(await other.takeText(), ['ping']);
  await other.send(near.localPort, 'pong');
  assert.deepEqual(await a.emulator.takeText(), ['pong']);
  await a.port.disconnect();
  const again = await ends();
  await a.port.connect(again[0]);
  await b.port.connect(again[1]);
  await a.emulator.send(a.localPort, 'fused');
  assert.deepEqual(await b.emulator.takeText(), ['fused']);
});

test('a cable between two programs on this host is not fused, and carries frames', async (t) => {
  const [one, two] = [await startFabric(t), await startFabric(t)];
  const [a, b] = [await emulatorPort(t, one), await emulatorPort(t, two)];
  const [near, far] = await ends();
  await a.port.connect(near);
  await a.emulator.send(a.localPort, 'nobody listens yet');
  await settled(a.port, ({ toCable }) => toCable.frames === 1);
  await b.port.connect(far);
  await a.emulator.send(a.localPort, 'ping', 'ping again');
  // The refusal of the first frame must cost no other one.
  assert.deepEqual(await b.emulator.takeText(2), ['ping', 'ping again']);
  assert.equal((await a.port.statistics()).fused, false);
});

test('cables with crossed ports that lead to other hosts are not fused', async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = [await fabric.createPort(null), await fabric.createPort(null)];
  const [near, far] = await ends();
  // 192.0.2.0/24 is for documentation: no address of this host.
  const route = spawnSync('ip', ['route', 'get', '192.0.2.1'], { stdio: 'ignore' });
  if (route.status !== 0) return t.skip('this host has no route to other networks');
  await a.connect({ ...near, remoteHost: '192.0.2.1' });
  await b.connect({ ...far, remoteHost: '192.0.2.1' });
  assert.equal((await a.statistics()).fused, false);
});

test('a cable by an address of one of the interfaces is fused', async (t) => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const remoteHost = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  if (remoteHost === undefined) return t.skip('this host has no IPv4 address but the loopback');
  const fabric = await startFabric(t);
  const [a, b] = [await emulatorPort(t, fabric), await emulatorPort(t, fabric)];
  const [near, far] = await ends();
  await a.port.connect({ ...near, remoteHost });
  await b.port.connect({ ...far, remoteHost });
  assert.equal((await a.port.statistics()).fused, true);
  await a.emulator.send(a.localPort, 'ping');
  assert.deepEqual(await b.emulator.takeText(), ['ping']);
});

test('a null cable takes frames and gives none', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  await port.connect({ kind: 'null' });
  await emulator.send(localPort, 'into the void');
  await settled(port, ({ toCable }) => toCable.frames === 1);
  await port.disconnect();
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable);
  await emulator.send(localPort, 'to the peer');
  assert.deepEqual(await peer.takeText(), ['to the peer']);
  assert.deepEqual((await port.statistics()).toCable, { frames: 2, bytes: 24 });
});

test('a cable stays while the emulator comes and goes', async (t) => {
  const fabric = await startFabric(t);
  const port = await fabric.createPort(null);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable);
  const { peer: emulator, cable: device } = await peerWithCable(t);
  await peer.send(cable.localPort, 'nobody is there');
  await settled(port, ({ drops }) => drops.noDevice === 1);
  await port.setDevice(device);
  await peer.send(cable.localPort, 'hello');
  assert.deepEqual(await emulator.takeText(), ['hello']);
  await port.setDevice(null);
  await Peer.open(t, { port: device.localPort });
});

test('a frame without a cable is counted', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const { peer, localPort } = await hubPort(t, fabric, hub);
  const lonely = await fabric.createPort({ kind: 'memory', device: hub, number: 0 });
  const witness = await hubPort(t, fabric, hub);
  await peer.send(localPort, 'flooded');
  await witness.peer.take(1);
  assert.equal((await lonely.statistics()).drops.noCable, 1);
});

test('calls on a fabric that was not started or is stopped fail with a reason, and it can be started again', async () => {
  const fabric = new Fabric();
  await assert.rejects(fabric.createDevice('hub', {}), { code: 'internal', message: /not started/ });
  await fabric.start();
  await fabric.stop();
  await assert.rejects(fabric.createDevice('hub', {}), { code: 'internal', message: /stopped/ });
  await fabric.stop();
  await fabric.start();
  await fabric.createDevice('hub', {});
  await fabric.stop();
});
