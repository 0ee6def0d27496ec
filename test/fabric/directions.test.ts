// Impairments of one direction on real cables: what they do, what is counted, and when a schedule changes them.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { DirectionImpairments } from '../../src/api/impairments.ts';
import type { CableImpairments, CableStatistics, FabricPort } from '../../src/fabric/fabric.ts';
import { emulatorPort, type Peer, peerWithCable, startFabric, until } from './peers.ts';

interface Rig {
  /** What stands at the device's side of the port. */
  emulator: Peer;
  /** What stands at the other end of the cable. */
  peer: Peer;
  port: FabricPort;
  out(...frames: (Buffer | string)[]): Promise<void>;
  back(...frames: (Buffer | string)[]): Promise<void>;
}

async function rig(t: TestContext, impairments: Partial<CableImpairments> = {}): Promise<Rig> {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable);
  await port.impairDirections({ outgoing: {}, incoming: {}, ...impairments });
  return {
    emulator,
    peer,
    port,
    out: (...frames) => emulator.send(localPort, ...frames),
    back: (...frames) => peer.send(cable.localPort, ...frames),
  };
}

/** Waits until the cable's counters are as wanted. */
async function counted(port: FabricPort, wanted: (statistics: CableStatistics) => boolean): Promise<CableStatistics> {
  return await until(async () => {
    const statistics = await port.cableStatistics();
    return wanted(statistics) && statistics;
  });
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

test('each direction is impaired by itself, beside the filters of both', async (t) => {
  const { emulator, peer, port, out, back } = await rig(t, { outgoing: { loss: { percent: 100 } } });
  await out('lost');
  await back('heard');
  assert.deepEqual(await emulator.takeText(), ['heard']);
  const { outgoing, incoming } = await counted(port, (seen) => seen.outgoing.dropped.loss === 1);
  assert.deepEqual(outgoing.offered, { frames: 1, bytes: 4 });
  assert.deepEqual(outgoing.delivered, { frames: 0, bytes: 0 });
  assert.deepEqual(incoming.delivered, { frames: 1, bytes: 5 });
  assert.equal((await port.statistics()).drops.loss, 1);
  await port.impairDirections({ outgoing: {}, incoming: { loss: { percent: 100 } } });
  await port.impair({ frequencyDrop: 2 });
  await out('1', '2', '3');
  assert.deepEqual(await peer.takeText(2), ['1', '3']);
  await counted(port, (seen) => seen.outgoing.dropped.frequencyDrop === 1);
});

test('a duplicated frame arrives twice, one after the other', async (t) => {
  const { peer, port, out } = await rig(t, { outgoing: { duplicate: { percent: 100 } } });
  await out('a', 'b');
  assert.deepEqual(await peer.takeText(4), ['a', 'a', 'b', 'b']);
  const { outgoing } = await port.cableStatistics();
  assert.deepEqual([outgoing.offered.frames, outgoing.delivered.frames, outgoing.duplicated], [2, 4, 2]);
});

test('one bit of a corrupt frame is flipped, and frames stay in their order', async (t) => {
  const { peer, port, out } = await rig(t, { outgoing: { corrupt: { percent: 50 } } });
  const frames = Array.from({ length: 100 }, (_, index) => Buffer.alloc(64, index));
  await out(...frames);
  const heard = await peer.take(frames.length);
  const flipped = heard.map((frame, index) => {
    const differing = frame.reduce((bits, byte) => bits + ((byte ^ index).toString(2).match(/1/g)?.length ?? 0), 0);
    assert.ok(differing <= 1, `frame ${index} differs by ${differing} bits`);
    return differing;
  });
  const count = flipped.filter((bits) => bits === 1).length;
  assert.equal((await port.cableStatistics()).outgoing.corrupted, count);
  assert.ok(count > 10 && count < 90, `${count} of 100`);
});

test('a limited rate takes its time, drops what its queue has no room for, and counts it', async (t) => {
  // 100 bytes take 100 ms.
  const { peer, port, out } = await rig(t, { outgoing: { rate: { kbit: 8, queue_frames: 3 } } });
  const start = performance.now();
  await out(...Array.from({ length: 10 }, (_, index) => Buffer.alloc(100, index)));
  const { outgoing } = await counted(port, (seen) => seen.outgoing.offered.frames === 10);
  assert.ok(outgoing.dropped.rateQueue > 0, `${outgoing.dropped.rateQueue} were dropped`);
  assert.ok(outgoing.queue.frames <= 4);
  const passed = 10 - outgoing.dropped.rateQueue;
  const heard = await peer.take(passed);
  assert.ok(performance.now() - start >= passed * 100 - 1);
  assert.deepEqual(
    heard.map((frame) => frame[0]),
    heard.map((frame) => frame[0]).toSorted((one, other) => one! - other!),
  );
  const after = await port.cableStatistics();
  assert.deepEqual(after.outgoing.held, { frames: 0, bytes: 0 });
  assert.ok(after.outgoing.delay!.most >= 100);
});

test('frames overtake those that a delay holds, and are counted as out of order', async (t) => {
  const delay = { ms: 2000 };
  const { peer, port, out } = await rig(t, { outgoing: { delay, reorder: { percent: 100, gap: 5 } } });
  await out(...numbers(5));
  assert.deepEqual(await peer.takeText(5), ['4', '0', '1', '2', '3']);
  assert.equal((await port.cableStatistics()).outgoing.reordered, 4);
});

test('frames of a jittered delay keep their order if the setting says so', async (t) => {
  const delay = { ms: 20, jitter: 15, distribution: 'pareto', keep_order: true } as const;
  const { peer, port, out } = await rig(t, { outgoing: { delay } });
  await out(...numbers(300));
  assert.deepEqual(await peer.takeText(300), numbers(300));
  assert.equal((await port.cableStatistics()).outgoing.reordered, 0);
});

test('the achieved delay is reported: never less than configured, with its spread', async (t) => {
  const { peer, port, out } = await rig(t, { outgoing: { delay: { ms: 25 } } });
  await out(...numbers(50));
  await peer.take(50);
  const { delay } = (await port.cableStatistics()).outgoing;
  assert.ok(delay);
  assert.equal(delay.frames, 50);
  assert.ok(delay.least >= 25 && delay.least <= delay.median && delay.median <= delay.percentile95);
  assert.ok(delay.percentile99 <= delay.most && delay.mean >= delay.least && delay.mean <= delay.most);
  await port.resetStatistics();
  const { outgoing } = await port.cableStatistics();
  assert.deepEqual([outgoing.offered.frames, outgoing.delivered.bytes, outgoing.delay], [0, 0, undefined]);
});

test('losses of 100,000 frames are as many as were asked for', async (t) => {
  const { port, out } = await rig(t, { outgoing: { loss: { percent: 20 } } });
  const batch = Array.from({ length: 500 }, () => 'x');
  for (let sent = 0; sent < 100_000; sent += batch.length) {
    await out(...batch);
    // Not faster than this host moves them: what its socket drops is no loss of the line.
    await until(async () => (await port.cableStatistics()).outgoing.offered.frames === sent + batch.length);
  }
  const { outgoing } = await port.cableStatistics();
  const lost = outgoing.dropped.loss;
  // Five standard deviations.
  assert.ok(Math.abs(lost - 20_000) < 5 * Math.sqrt(100_000 * 0.2 * 0.8), `${lost} were lost`);
  assert.equal(outgoing.delivered.frames, 100_000 - lost);
});

/** A plan whose outgoing impairments are `changes`, `[at, impairments]`, on a cable that has `base`. */
function plan(changes: [number, DirectionImpairments][], { period = Infinity, rounds = 1, base = {} } = {}) {
  return {
    changes: changes.map(([at, outgoing]) => ({ at, impairments: { outgoing, incoming: {} } })),
    period,
    rounds,
    base: { outgoing: base, incoming: {} },
  };
}

test('a schedule changes the cable at its times, and leaves it as it was', async (t) => {
  const { peer, port, out } = await rig(t);
  const lost: DirectionImpairments = { loss: { percent: 100 } };
  const started = await port.schedule(
    plan(
      [
        [0, {}],
        [50, lost],
      ],
      { period: 2000 },
    ),
  );
  assert.equal(started.state, 'running');
  await until(async () => (await port.scheduleState())?.change === 1);
  await out('lost');
  await counted(port, (seen) => seen.outgoing.offered.frames === 1);
  const ended = await until(async () => {
    const state = await port.scheduleState();
    return state?.state === 'finished' && state;
  });
  assert.ok(ended.elapsed >= 2000);
  await out('heard');
  assert.deepEqual(await peer.takeText(), ['heard']);
});

test('a schedule repeats its rounds, each at its time', async (t) => {
  const { port } = await rig(t);
  await port.schedule(
    plan(
      [
        [0, {}],
        [10, { delay: { ms: 5 } }],
      ],
      { period: 20, rounds: 5 },
    ),
  );
  const ended = await until(async () => {
    const state = await port.scheduleState();
    return state?.state === 'finished' && state;
  });
  assert.equal(ended.round, 4);
  assert.ok(ended.elapsed >= 100, `${ended.elapsed} ms`);
});

test('a schedule ends with a change, when it is cancelled, and with the cable', async (t) => {
  const { peer, port, out } = await rig(t);
  const lost = plan([[0, { loss: { percent: 100 } }]]);
  await port.schedule(lost);
  await port.cancelSchedule();
  assert.equal((await port.scheduleState())?.state, 'cancelled');
  await out('1');
  assert.deepEqual(await peer.takeText(), ['1']);
  await port.schedule(lost);
  await port.impairDirections({ outgoing: { duplicate: { percent: 100 } }, incoming: {} });
  assert.equal((await port.scheduleState())?.state, 'cancelled');
  await out('2');
  assert.deepEqual(await peer.takeText(2), ['2', '2']);
  await port.schedule(plan([[0, {}]], { period: 10, rounds: 0 }));
  await port.disconnect();
  await assert.rejects(port.scheduleState(), /has no cable/);
});
