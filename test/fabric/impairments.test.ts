import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corrupt, Impairer, impairs } from '../../src/fabric/plane/impairments.ts';
import { emulatorPort, ends, hubPort, peerWithCable, settled, startFabric } from './peers.ts';

/** What `random` answers, in turn. */
function sequence(...values: number[]): () => number {
  let index = 0;
  return () => values[index++ % values.length]!;
}

test('a frequency of n loses every nth frame, -1 loses all, 0 none', () => {
  const losses = (frequencyDrop: number): boolean[] => {
    const impairer = new Impairer({ frequencyDrop });
    return Array.from({ length: 6 }, () => impairer.loss() === 'frequencyDrop');
  };
  assert.deepEqual(losses(3), [false, false, true, false, false, true]);
  assert.deepEqual(losses(1), new Array(6).fill(true));
  assert.deepEqual(losses(-1), new Array(6).fill(true));
  assert.deepEqual(losses(0), new Array(6).fill(false));
});

test('chances are percentages: 0 never happens, 100 always', () => {
  assert.equal(new Impairer({ packetLoss: 0 }, () => 0).loss(), undefined);
  assert.equal(new Impairer({ packetLoss: 100 }, () => 0.999_999).loss(), 'packetLoss');
  assert.equal(new Impairer({ packetLoss: 25 }, () => 0.249).loss(), 'packetLoss');
  assert.equal(new Impairer({ packetLoss: 25 }, () => 0.25).loss(), undefined);
  assert.equal(new Impairer({ corrupt: 25 }, () => 0.249).corrupts(), true);
  assert.equal(new Impairer({ corrupt: 25 }, () => 0.25).corrupts(), false);
});

test('a delay lies between latency less jitter and latency plus jitter, never below zero', () => {
  const times = (latency: number, jitter: number): number[] => {
    const impairer = new Impairer({ delay: { latency, jitter } }, sequence(0, 0.5, 1));
    return Array.from({ length: 3 }, () => impairer.holdTime());
  };
  assert.deepEqual(times(100, 10), [90, 100, 110]);
  assert.deepEqual(times(5, 10), [0, 5, 15]);
  assert.deepEqual(times(7, 0), [7, 7, 7]);
  assert.equal(new Impairer({}).holdTime(), 0);
});

test('a corrupt frame is altered in a quarter around its middle, in every byte there', () => {
  const frame = Buffer.alloc(100, 7);
  corrupt(frame, 0, frame.length, () => 0);
  const altered = Array.from(frame, (byte, index) => (byte === 7 ? -1 : index)).filter((index) => index >= 0);
  assert.deepEqual([altered.length, altered[0], altered.at(-1)], [25, 37, 61]);
  const runt = Buffer.from([7]);
  corrupt(runt, 0, 1, () => 0.999_999);
  assert.notEqual(runt[0], 7);
});

test('settings that do nothing are distinguished from those that do', () => {
  assert.equal(impairs({}), false);
  assert.equal(impairs({ frequencyDrop: 0, packetLoss: 0, corrupt: 0, delay: { latency: 0, jitter: 5 } }), false);
  assert.equal(impairs({ frequencyDrop: -1 }), true);
  assert.equal(impairs({ delay: { latency: 1, jitter: 0 } }), true);
});

test('a suspended cable passes nothing in either direction, and passes again when it is resumed', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable, { frequencyDrop: -1 });
  await emulator.send(localPort, 'lost');
  await peer.send(cable.localPort, 'lost');
  await settled(port, ({ drops }) => drops.frequencyDrop === 2);
  await port.impair({});
  await emulator.send(localPort, 'out');
  await peer.send(cable.localPort, 'in');
  assert.deepEqual(await peer.takeText(), ['out']);
  assert.deepEqual(await emulator.takeText(), ['in']);
});

test('every third frame is lost, in each direction by its own count', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable, { frequencyDrop: 3 });
  await emulator.send(localPort, '1', '2', '3', '4', '5', '6', '7');
  assert.deepEqual(await peer.takeText(5), ['1', '2', '4', '5', '7']);
  await peer.send(cable.localPort, '1', '2', '3', '4');
  assert.deepEqual(await emulator.takeText(3), ['1', '2', '4']);
});

test('about half of the frames are lost at 50 percent, and the rest keeps its order', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable, { packetLoss: 50 });
  const frames = Array.from({ length: 400 }, (_, index) => index);
  await emulator.send(localPort, ...frames.map(String));
  await settled(port, ({ toCable, drops }) => toCable.frames + drops.packetLoss === frames.length);
  await port.impair({});
  await emulator.send(localPort, 'end');
  const heard: string[] = [];
  while (heard.at(-1) !== 'end') heard.push(...(await peer.takeText()));
  const numbers = heard.slice(0, -1).map(Number);
  assert.ok(numbers.length > 100 && numbers.length < 300, `${numbers.length} of 400`);
  assert.deepEqual(
    numbers,
    numbers.toSorted((left, right) => left - right),
  );
  assert.equal((await port.statistics()).drops.packetLoss, 400 - numbers.length);
});

test('corrupt frames arrive with their length and another content, without harm to the other ports of a hub', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b, c] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await b.port.impair({ corrupt: 100 });
  const frame = Buffer.alloc(1514, 1);
  await a.peer.send(a.localPort, frame);
  const [corrupted] = await b.peer.take(1);
  assert.equal(corrupted!.length, frame.length);
  assert.notDeepEqual(corrupted, frame);
  assert.deepEqual(await c.peer.take(1), [frame]);
});

test('a delay holds each frame for its time and never the next one behind it', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable, { delay: { latency: 2000, jitter: 0 } });
  const start = performance.now();
  await emulator.send(localPort, 'held');
  await settled(port, ({ delayed }) => delayed === 1);
  await port.impair({});
  await emulator.send(localPort, 'at once');
  assert.deepEqual(await peer.takeText(2), ['at once', 'held']);
  assert.ok(performance.now() - start >= 1999);
});

test('delayed frames keep their order and content', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable, { delay: { latency: 30, jitter: 0 } });
  const frames = Array.from({ length: 300 }, (_, index) => `frame ${index}`);
  await emulator.send(localPort, ...frames);
  assert.deepEqual(await peer.takeText(frames.length), frames);
});

test('a fused cable is delayed as well', async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = [await emulatorPort(t, fabric), await emulatorPort(t, fabric)];
  const [near, far] = await ends();
  await a.port.connect(near, { delay: { latency: 50, jitter: 10 } });
  await b.port.connect(far);
  assert.equal((await a.port.statistics()).fused, true);
  const start = performance.now();
  await a.emulator.send(a.localPort, 'there');
  assert.deepEqual(await b.emulator.takeText(), ['there']);
  await b.emulator.send(b.localPort, 'and back');
  assert.deepEqual(await a.emulator.takeText(), ['and back']);
  assert.ok(performance.now() - start >= 79);
});

test('a delayed frame does not arrive behind a cable that was pulled', async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  // Long enough for a busy host to pull the cable meanwhile.
  await port.connect(cable, { delay: { latency: 2000, jitter: 0 } });
  await emulator.send(localPort, 'held');
  await settled(port, ({ delayed }) => delayed === 1);
  await port.disconnect();
  await port.connect(cable, { delay: { latency: 2500, jitter: 0 } });
  await emulator.send(localPort, 'later');
  assert.deepEqual(await peer.takeText(), ['later']);
});

test('the queue of a delay is bounded, and what does not fit is counted', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await b.port.impair({ delay: { latency: 30_000, jitter: 0 } });
  const frame = Buffer.alloc(60_000);
  // 32 MiB hold 559 of these.
  // Several for each look, so that all are sent before the first one leaves; a socket without privileges has room for no more.
  for (let sent = 4; sent <= 580; sent += 4) {
    await a.peer.send(a.localPort, frame, frame, frame, frame);
    await settled(b.port, ({ delayed, drops }) => delayed + drops.delayQueue === sent);
  }
  assert.equal((await b.port.statistics()).drops.delayQueue, 21);
});
