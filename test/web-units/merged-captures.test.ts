// Several captures in one list: by time, whichever comes first, and none waits for one that is silent.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws';
import { filterOf } from '../../src/web/capture/filter.ts';
import { type Clock, FrameReader } from '../../src/web/capture/frames.ts';
import { Merger } from '../../src/web/capture/merger.ts';
import type { FromWorker, ToWorker } from '../../src/web/capture/messages.ts';
import { Ring } from '../../src/web/capture/ring.ts';
import { Rows } from '../../src/web/capture/rows.ts';
import { Source } from '../../src/web/capture/source.ts';
import { until } from '../controller/lab-server.ts';
import { CORPUS, pcapOf } from './corpus.ts';
import { frameOf, segment } from './tcp-stream.ts';

const ARP = CORPUS[0]!.bytes;
const frame = (time: number, source: number) => frameOf(ARP, { time, source });
const times = (ring: Ring): number[] => Array.from({ length: ring.size }, (_, at) => ring.get(ring.first + at)!.time);

test('frames of several captures come in the order of their times', () => {
  const merger = new Merger();
  merger.expect(0, 0);
  merger.expect(1, 0);
  merger.add(0, [frame(10, 0), frame(30, 0), frame(50, 0)], 100);
  assert.deepEqual(merger.take(100), [], 'the other one may have earlier frames');
  merger.add(1, [frame(20, 1), frame(40, 1)], 110);
  assert.deepEqual(
    merger.take(120).map(({ time }) => time),
    [10, 20, 30, 40],
  );
  assert.equal(merger.isEmpty, false);
  // Nobody waits for a silent one, nor for one whose connection is lost.
  assert.deepEqual(
    merger.take(600).map(({ time }) => time),
    [50],
  );
  merger.add(0, [frame(60, 0)], 700);
  merger.expect(1, 700);
  assert.deepEqual(merger.take(710), []);
  merger.leave(1);
  assert.equal(merger.take(720).length, 1);
});

test('the frames of a host whose clock is ahead are taken all the same', () => {
  const merger = new Merger();
  merger.expect(0, 0);
  merger.expect(1, 0);
  const taken = [0, 0];
  for (let now = 0; now < 2000; now += 100) {
    merger.add(0, [frame(now + 120_000, 0)], now);
    merger.add(1, [frame(now, 1)], now);
    for (const { source } of merger.take(now)) taken[source]! += 1;
  }
  assert.deepEqual(taken, [16, 20]);
});

test('frames that come too late are put where they belong, and numbered again', () => {
  const ring = new Ring();
  assert.equal(ring.insert([frame(10, 0), frame(30, 0)]), false);
  assert.equal(ring.insert([frame(5, 1), frame(20, 1)]), true);
  assert.deepEqual(times(ring), [5, 10, 20, 30]);
  assert.deepEqual([ring.first, ring.last, ring.begin], [1, 4, 5]);
  ring.forget(1);
  assert.deepEqual([times(ring), ring.first, ring.last], [[10, 30], 1, 2]);
  // The oldest go first, whichever they are of.
  const small = new Ring(5 * (ARP.length + 160));
  for (let time = 0; time < 9; time++) small.insert([frame(time, time % 2)]);
  assert.deepEqual(times(small), [4, 5, 6, 7, 8]);
  small.insert([frame(6.5, 0)]);
  assert.deepEqual(times(small), [5, 6, 6.5, 7, 8]);
  assert.equal(small.last, 10);
});

test('readers that share a clock count from the same second', () => {
  const clock: Clock = {};
  const file = (seconds: number): Buffer => {
    const bytes = Buffer.alloc(24 + 16 + ARP.length);
    bytes.writeUInt32LE(0xa1b2c3d4, 0);
    bytes.writeUInt32LE(1, 20);
    bytes.writeUInt32LE(seconds, 24);
    bytes.writeUInt32LE(7, 28);
    bytes.writeUInt32LE(ARP.length, 32);
    bytes.writeUInt32LE(ARP.length, 36);
    bytes.set(ARP, 40);
    return bytes;
  };
  const [one] = new FrameReader(clock, 0).push(file(1000));
  const [other] = new FrameReader(clock, 1).push(file(998));
  assert.deepEqual([one!.time, other!.time], [7000, -2e9 + 7000]);
  assert.deepEqual([one!.source, other!.source], [0, 1]);
});

test('rows have the name of their link, and filters know it', () => {
  const ring = new Ring();
  ring.insert([frame(1, 0), frame(2, 1), frame(3, 0)]);
  const names = ['PC1 – R1', 'R1 – R2'];
  const rows = new Rows(ring, (source) => names[source]!);
  const shown = (): number[] => rows.get(0, 10).map(({ number }) => number);
  assert.deepEqual(
    rows.get(0, 10).map(({ link, time }) => [link, time]),
    [
      ['PC1 – R1', 0],
      ['R1 – R2', 1],
      ['PC1 – R1', 2],
    ],
  );
  for (const [filter, expected] of [
    ['link == "R1 – R2"', [2]],
    ['link contains pc1', [1, 3]],
    ['"r1 – r2"', [2]],
    ['arp and not link contains r2', [1, 3]],
  ] as const) {
    rows.filter(filterOf(filter));
    while (rows.look());
    assert.deepEqual([filter, shown()], [filter, expected]);
  }
});

/** The server's ends of captures, by their paths. */
function serveCaptures(t: TestContext): Map<string, ServerSocket> {
  const server = new WebSocketServer({ port: 0 });
  const captures = new Map<string, ServerSocket>();
  server.on('connection', (socket, { url }) => captures.set(new URL(url!, 'ws://localhost').pathname, socket));
  const location = new URL(`http://localhost:${(server.address() as AddressInfo).port}`);
  Object.assign(globalThis, { location });
  t.after(() => {
    // Readers would come again after anything else.
    for (const socket of captures.values()) socket.close(1000);
    server.close();
  });
  return captures;
}

/** The worker of a list, with its captures. */
async function startWorker(t: TestContext) {
  const captures = serveCaptures(t);
  const told: FromWorker[] = [];
  Object.assign(globalThis, { self: globalThis, postMessage: (message: FromWorker) => told.push(message) });
  await import('../../src/web/capture/worker.ts');
  const post = (data: ToWorker): void => self.onmessage?.({ data } as MessageEvent<ToWorker>);
  const last = <K extends FromWorker['kind']>(kind: K) =>
    told.findLast((message): message is Extract<FromWorker, { kind: K }> => message.kind === kind);
  return { captures, post, last };
}

test('a chosen frame stays the same one when others are put before it, and so does its stream', async (t) => {
  const { captures, post, last } = await startWorker(t);
  post({ kind: 'open', sources: ['/a', '/b'].map((path) => ({ name: 'R1 – R2', path, query: {}, start: 0 })) });
  await until(() => captures.size === 2, 'both captures');
  const [one, other] = ['/v2/a', '/v2/b'].map((path) => captures.get(path)!);
  const record = (milliseconds: number, bytes: Uint8Array): Buffer => {
    const file = pcapOf([{ name: '', link: 1, bytes: Buffer.from(bytes) }], 1).subarray(24);
    file.writeUInt32LE(1000, 0);
    file.writeUInt32LE(milliseconds * 1000, 4);
    return file;
  };
  const head = pcapOf([], 1);
  const said = ['x', 'y', 'z'].map((data, at) => record(100 * (at + 1), segment({ side: 0, at: at + 1, data })));
  one!.send(Buffer.concat([head, ...said]));
  other!.send(head);
  await until(() => last('state')?.state.received === 3, 'three frames');
  post({ kind: 'rows', from: 0, count: 9 });
  post({ kind: 'frame', id: last('rows')!.rows[2]!.id });
  const { id, number, hasStream } = last('frame')!.frame!;
  assert.deepEqual([number, hasStream], [3, true]);
  other!.send(record(250, ARP));
  await until(() => last('frame')!.frame!.number === 4, 'its new number');
  post({ kind: 'rows', from: 0, count: 9 });
  assert.equal(last('rows')!.rows[3]!.id, id);
  post({ kind: 'stream', id });
  other!.send(record(260, ARP));
  await until(() => last('stream')?.stream?.parts.length === 3, 'its stream');
  await until(() => last('state')!.state.received === 5, 'the last frame');
  assert.deepEqual(
    last('state')!.state.sources,
    ['R1 – R2', 'R1 – R2 (2)'].map((name) => ({ name, connection: 'open' })),
  );
});

test('a capture whose start is known before the end of the former one is read after that', async (t) => {
  const captures = serveCaptures(t);
  const states: string[] = [];
  const source = new Source(
    { name: 'One', path: '/quick', query: {}, start: 1 },
    0,
    {},
    { begun: () => {}, frames: () => {}, changed: () => void states.push(source.connection) },
  );
  await until(() => source.connection === 'open', 'the capture');
  source.again(2);
  captures.get('/v2/quick')!.close(1000, 'The capture has ended.');
  await until(() => states.length === 3, 'the second capture');
  // One that was read before its start was known is not waited for after its end.
  source.again(3);
  Object.assign(globalThis, { location: new URL('http://localhost:1') });
  captures.get('/v2/quick')!.close(1000, 'The capture has ended.');
  await until(() => states.length === 5, 'the end');
  assert.deepEqual(states, ['open', 'connecting', 'open', 'connecting', 'ended']);
  assert.equal(source.reason, 'The capture has ended.');
});
