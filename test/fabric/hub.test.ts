import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emulatorPort, ends, freePort, hubPort, Peer, quiet, settled, startFabric } from './peers.ts';

test('a hub floods a frame to all ports but the one that sent it', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b, c] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await a.peer.send(a.localPort, 'from a');
  assert.deepEqual(await b.peer.takeText(), ['from a']);
  assert.deepEqual(await c.peer.takeText(), ['from a']);
  await b.peer.send(b.localPort, 'from b');
  assert.deepEqual(await a.peer.takeText(), ['from b']);
  assert.deepEqual(await c.peer.takeText(), ['from b']);
});

test('frames of every size cross a hub unchanged and in order, and an empty packet harms nothing', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  const frames = [1, 59, 60, 1514, 9000, 65_507].map((size) => Buffer.alloc(size, size));
  await a.peer.send(a.localPort, '', ...frames);
  assert.deepEqual(await b.peer.take(frames.length), frames);
  assert.equal((await a.port.statistics()).drops.empty, 1);
});

test('a burst through a hub arrives whole and in order', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  const frames = Array.from({ length: 200 }, (_, index) => `frame ${index} ${'x'.repeat(index)}`);
  await a.peer.send(a.localPort, ...frames);
  assert.deepEqual(await b.peer.takeText(frames.length), frames);
});

test('statistics count frames and bytes of each direction', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await a.peer.send(a.localPort, 'one', 'three');
  await b.peer.take(2);
  const statistics = await a.port.statistics();
  assert.deepEqual(statistics.toDevice, { frames: 2, bytes: 8 });
  assert.deepEqual(statistics.toCable, { frames: 0, bytes: 0 });
  assert.deepEqual((await b.port.statistics()).toCable, { frames: 2, bytes: 8 });
});

test('a removed port neither sends nor receives, and its UDP port can be used again', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b, c] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await b.port.close();
  await b.peer.send(b.localPort, 'from the removed one');
  await a.peer.send(a.localPort, 'from a');
  assert.deepEqual(await c.peer.takeText(), ['from a']);
  await c.peer.send(c.localPort, 'from c');
  assert.deepEqual(await a.peer.takeText(), ['from c']);
  assert.deepEqual(b.peer.heard, []);
  await assert.rejects(b.port.statistics(), { code: 'conflict', message: /closed/ });
  await Peer.open(t, { port: b.localPort });
});

test('closing a hub leaves its ports without a device', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await hub.close();
  await a.peer.send(a.localPort, 'lost');
  await settled(a.port, ({ drops }) => drops.noDevice === 1);
  const next = await fabric.createDevice('hub', {});
  await a.port.setDevice({ kind: 'memory', device: next, number: 0 });
  await b.port.setDevice({ kind: 'memory', device: next, number: 0 });
  await a.peer.send(a.localPort, 'heard');
  assert.deepEqual(await b.peer.takeText(), ['heard']);
  await assert.rejects(fabric.createPort({ kind: 'memory', device: hub, number: 0 }), { code: 'conflict' });
});

test('a loop of hubs neither takes the fabric over nor holds up other hubs, and ends with the loop', async (t) => {
  const fabric = await startFabric(t);
  const [left, right] = [await fabric.createDevice('hub', {}), await fabric.createDevice('hub', {})];
  const loops = [];
  // Three parallel cables: each frame comes back as two.
  for (let cable = 0; cable < 3; cable++) {
    const addresses = await ends();
    for (const [index, hub] of [left, right].entries()) {
      const port = await fabric.createPort({ kind: 'memory', device: hub, number: 0 });
      await port.connect(addresses[index]!);
      loops.push(port);
    }
  }
  const spark = await hubPort(t, fabric, left);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await spark.peer.send(spark.localPort, Buffer.alloc(1514, 1));
  await spark.peer.take(100);
  await a.peer.send(a.localPort, 'in the storm');
  assert.deepEqual(await b.peer.takeText(), ['in the storm']);
  await settled(loops[0]!, ({ drops }) => drops.deviceQueue > 0);
  for (const port of loops) await port.disconnect();
  await quiet(spark.port);
  await a.peer.send(a.localPort, 'after the storm');
  assert.deepEqual(await b.peer.takeText(), ['after the storm']);
});

test('a hub whose own ports are joined stays controllable', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [near, far] = await ends();
  const [one, two] = [
    await fabric.createPort({ kind: 'memory', device: hub, number: 0 }),
    await fabric.createPort({ kind: 'memory', device: hub, number: 0 }),
  ];
  await one.connect(near);
  await two.connect(far);
  const spark = await hubPort(t, fabric, hub);
  await spark.peer.send(spark.localPort, 'round and round');
  await spark.peer.take(50);
  await one.disconnect();
  await quiet(spark.port);
});

test('frames pass a long chain of hubs', async (t) => {
  const fabric = await startFabric(t);
  const first = await fabric.createDevice('hub', {});
  const head = await hubPort(t, fabric, first);
  let last = first;
  for (let length = 0; length < 30; length++) {
    const next = await fabric.createDevice('hub', {});
    const addresses = await ends();
    for (const [index, hub] of [last, next].entries())
      await (await fabric.createPort({ kind: 'memory', device: hub, number: 0 })).connect(addresses[index]!);
    last = next;
  }
  const tail = await hubPort(t, fabric, last);
  const frames = Array.from({ length: 100 }, (_, index) => `frame ${index}`);
  await head.peer.send(head.localPort, ...frames);
  assert.deepEqual(await tail.peer.takeText(frames.length), frames);
});

test('an emulator reaches the peers of a hub through a cable', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const { peer, localPort } = await hubPort(t, fabric, hub);
  const pc = await emulatorPort(t, fabric);
  const [near, far] = await ends();
  await pc.port.connect(near);
  await (await fabric.createPort({ kind: 'memory', device: hub, number: 0 })).connect(far);
  await pc.emulator.send(pc.localPort, 'ping');
  assert.deepEqual(await peer.takeText(), ['ping']);
  await peer.send(localPort, 'pong');
  assert.deepEqual(await pc.emulator.takeText(), ['pong']);
});

test('a device that cannot be had is refused and leaves no port behind', async (t) => {
  const fabric = await startFabric(t);
  const stranger = await Peer.open(t);
  const device = {
    kind: 'udp',
    localPort: stranger.port,
    remoteHost: '127.0.0.1',
    remotePort: await freePort(),
  } as const;
  await assert.rejects(fabric.createPort(device), { code: 'conflict', message: new RegExp(`${stranger.port}`) });
});
