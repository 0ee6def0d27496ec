// Streams of TCP: put together as tshark does it, with what is missing or came twice, and no more than fits.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { Ring } from '../../src/web/capture/ring.ts';
import { Follower, type StreamObject } from '../../src/web/capture/streams/follower.ts';
import { type Captured, Reassembly } from '../../src/web/capture/streams/reassembly.ts';
import { seeded } from '../seeded.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { pcapOf } from './corpus.ts';
import { FIN, frameOf, RST, type Side, SYN, segment } from './tcp-stream.ts';

const run = promisify(execFile);

function followed(frames: readonly Uint8Array[], chosen = frames.length, limit?: number): StreamObject {
  const ring = new Ring();
  ring.push(frames.map((bytes) => frameOf(bytes)));
  const follower = new Follower(ring, ring.get(chosen)!, limit);
  while (follower.look());
  return follower.stream!;
}

/** What each end has sent, in turns. */
function turns({ parts }: StreamObject): [Side, string][] {
  const all: [Side, string][] = [];
  for (const { side, data } of parts) {
    const last = all.at(-1);
    if (data.length === 0) continue;
    if (last?.[0] === side) last[1] += Buffer.from(data).toString('hex');
    else all.push([side, Buffer.from(data).toString('hex')]);
  }
  return all;
}

/** The same by tshark. */
async function theirs(t: TestContext, frames: readonly Uint8Array[], stream = 0): Promise<[Side, string][]> {
  const file = join(await scratchDirectory(t), 'stream.pcap');
  const samples = frames.map((bytes, index) => ({ name: String(index), link: 1, bytes: Buffer.from(bytes) }));
  await writeFile(file, pcapOf(samples, 1));
  const { stdout } = await run('tshark', ['-n', '-r', file, '-q', '-z', `follow,tcp,raw,${stream}`]);
  const all: [Side, string][] = [];
  for (const line of stdout.split('\n').filter((each) => /^\t?[\da-f]+$/.test(each))) {
    const side = line.startsWith('\t') ? 1 : 0;
    const last = all.at(-1);
    if (last?.[0] === side) last[1] += line.trim();
    else all.push([side, line.trim()]);
  }
  return all;
}

const OPENING = [
  segment({ side: 0, at: 0, flags: SYN }),
  segment({ side: 1, at: 0, flags: SYN, acknowledged: 1 }),
  segment({ side: 0, at: 1, acknowledged: 1 }),
];
const REQUEST = 'GET / HTTP/1.0\r\n\r\n';
const asked = segment({ side: 0, at: 1, data: REQUEST, acknowledged: 1 });
const behind = 1 + REQUEST.length;
const said = (at: number, data: string): Uint8Array => segment({ side: 1, at, data, acknowledged: behind });

const CASES: Readonly<Record<string, readonly Uint8Array[]>> = {
  'in order': [...OPENING, asked, said(1, 'hello '), said(7, 'world')],
  'in turns': [
    ...OPENING,
    asked,
    said(1, 'name? '),
    segment({ side: 0, at: behind, data: 'me', acknowledged: 7 }),
    segment({ side: 1, at: 7, data: 'ok', acknowledged: behind + 2 }),
  ],
  'out of order': [...OPENING, asked, said(13, 'third '), said(7, 'second'), said(1, 'first ')],
  'sent again': [...OPENING, asked, asked, said(1, 'hello '), said(1, 'hello '), said(7, 'world')],
  'in other pieces again': [...OPENING, asked, said(1, 'hello '), said(4, 'lo world'), said(12, '!')],
  'with a keep-alive': [...OPENING, asked, said(1, 'hello'), said(5, 'o'), said(6, '!')],
  'without its beginning': [asked, said(1, 'hello'), said(6, '!')],
  'closed by both': [
    ...OPENING,
    asked,
    said(1, 'bye'),
    segment({ side: 1, at: 4, flags: FIN, acknowledged: behind }),
    segment({ side: 0, at: behind, flags: FIN, acknowledged: 5 }),
  ],
  'over IPv6': OPENING.map((_, index) =>
    segment({ side: 0, at: 1 + index * 2, data: 'ab', acknowledged: 1, isSix: true }),
  ),
  'with a tag': [segment({ side: 0, at: 1, data: 'ab', vlan: 7 }), segment({ side: 1, at: 1, data: 'cd', vlan: 7 })],
};

test('a stream has the bytes, and the turns, that tshark follows', async (t) => {
  if ((await findProgram('tshark')) === undefined) return t.skip('tshark is not installed');
  for (const [name, frames] of Object.entries(CASES))
    assert.deepEqual([name, turns(followed(frames))], [name, await theirs(t, frames)]);
});

test('long streams are those of tshark in whatever order their segments come, also across the end of sequence numbers', async (t) => {
  if ((await findProgram('tshark')) === undefined) return t.skip('tshark is not installed');
  const beginnings = { sequences: [0xffff_f000, 0xffff_ff00] as const };
  for (const seed of [1, 2, 3]) {
    const chance = seeded(seed);
    const frames = [
      segment({ side: 0, at: 0, flags: SYN }, beginnings),
      segment({ side: 1, at: 0, flags: SYN, acknowledged: 1 }, beginnings),
      segment({ side: 0, at: 1, acknowledged: 1 }, beginnings),
    ];
    const pieces: Uint8Array[] = [];
    let at = 1;
    for (let index = 0; index < 300; index++) {
      const data = Uint8Array.from({ length: 1 + Math.floor(chance() * 200) }, () => Math.floor(chance() * 256));
      pieces.push(segment({ side: 1, at, data, acknowledged: 1 }, beginnings));
      at += data.length;
    }
    for (const [index, piece] of pieces.entries()) {
      // Some change places with their neighbours, some come again.
      if (chance() < 0.2 && index + 1 < pieces.length) {
        [pieces[index], pieces[index + 1]] = [pieces[index + 1]!, piece];
      }
      frames.push(pieces[index]!);
      if (chance() < 0.1) frames.push(pieces[Math.floor(chance() * index)]!);
    }
    const stream = followed(frames);
    assert.deepEqual(turns(stream), await theirs(t, frames));
    assert.equal(stream.sides[1].bytes, at - 1);
    assert.ok(stream.sides[1].repeated > 10 && stream.sides[1].early > 10, 'mishaps are counted');
  }
});

test('of several connections between the same ports the one of the chosen packet is followed', async (t) => {
  const again = { sequences: [900_000, 800_000] as const };
  const second = [
    segment({ side: 0, at: 0, flags: SYN }, again),
    segment({ side: 1, at: 0, flags: SYN, acknowledged: 1 }, again),
    segment({ side: 0, at: 1, data: 'second', acknowledged: 1 }, again),
  ];
  const frames = [...OPENING, asked, segment({ side: 0, at: behind, flags: RST, acknowledged: 1 }), ...second];
  const other = segment({ side: 0, at: 1, data: 'elsewhere' }, { ports: [40_001, 80] });
  const all = [...frames, other, segment({ side: 1, at: 1, data: 'answer', acknowledged: 7 }, again)];
  const text = (stream: StreamObject): string[] =>
    turns(stream).map(([, bytes]) => Buffer.from(bytes, 'hex').toString());
  assert.deepEqual(text(followed(all, 4)), [REQUEST]);
  assert.equal(followed(all, 4).sides[0].end, 'reset');
  assert.deepEqual(text(followed(all, 8)), ['second', 'answer']);
  if ((await findProgram('tshark')) === undefined) return t.skip('tshark is not installed');
  assert.deepEqual(turns(followed(all, 4)), await theirs(t, all, 0));
  assert.deepEqual(turns(followed(all, 8)), await theirs(t, all, 1));
});

test('what was not captured is reported as missing, once the other end has acknowledged it', () => {
  const lost = [...OPENING, asked, said(1, 'hello '), said(12, 'you')];
  const open = followed(lost);
  assert.deepEqual([open.sides[1].bytes, open.waiting, open.sides[1].missing], [6, 3, 0], 'it may still come');
  const told = followed([...lost, segment({ side: 0, at: behind, acknowledged: 15 })]);
  assert.deepEqual(
    told.parts.filter(({ side }) => side === 1).map(({ data, missing }) => [Buffer.from(data).toString(), missing]),
    [
      ['hello ', 0],
      ['', 5],
      ['you', 0],
    ],
  );
  assert.deepEqual([told.sides[1].bytes, told.sides[1].missing, told.waiting], [9, 5, 0]);
});

test('a frame that was cut short leaves a gap as long as what it lost', () => {
  const ring = new Ring();
  const whole = said(1, 'a'.repeat(300));
  const frames = [...OPENING, asked].map((bytes) => frameOf(bytes));
  frames.push(frameOf(whole.subarray(0, 100), { length: whole.length }), frameOf(said(301, 'end')));
  ring.push(frames);
  const follower = new Follower(ring, ring.get(1)!);
  while (follower.look());
  const { parts, sides } = follower.stream!;
  const heads = 14 + 20 + 20;
  assert.deepEqual(
    parts.filter(({ side }) => side === 1).map(({ data, missing }) => [data.length, missing]),
    [
      [100 - heads, 0],
      [0, 300 - (100 - heads)],
      [3, 0],
    ],
  );
  assert.equal(sides[1].missing, 300 - (100 - heads));
});

test('of a long stream as much is kept as fits, and the rest is counted', () => {
  const frames = [...OPENING];
  for (let index = 0; index < 100; index++)
    frames.push(segment({ side: 0, at: 1 + index * 1000, data: 'x'.repeat(1000), acknowledged: 1 }));
  const { parts, dropped, sides } = followed(frames, 1, 20_000);
  const kept = parts.reduce((sum, { data }) => sum + data.length, 0);
  assert.ok(kept <= 20_000 && kept > 15_000, `${kept} bytes are kept`);
  assert.deepEqual([kept + dropped, sides[0].bytes], [100_000, 100_000]);
  // Small segments count with what keeping them costs.
  const typed = [...OPENING];
  for (let index = 0; index < 1000; index++) typed.push(segment({ side: 0, at: 1 + index, data: 'x' }));
  assert.ok(followed(typed, 1, 20_000).parts.length < 200);
});

test('segments that wait for a gap count with what keeping them costs, also what the capture cut off', () => {
  const waiting = (segments: readonly Captured[]): Reassembly => {
    const stream = new Reassembly(segments[0]!.segment, 2 << 20);
    for (const each of segments) stream.push(each);
    return stream;
  };
  const piece = (sequence: number, data: number, cut: number): Captured => {
    const segment = { from: 'a:1', to: 'b:2', sequence, acknowledged: 0, flags: 0, begin: 0, end: 0, cut };
    return { segment, data: new Uint8Array(data), frame: sequence };
  };
  // A byte each, and none of those between them.
  const holes = waiting(Array.from({ length: 20_000 }, (_, index) => piece(1 + 2 * index, 1, 0)));
  assert.ok(holes.waiting > 1000 && holes.waiting < 10_000, `${holes.waiting} segments wait`);
  assert.equal(holes.sides[0].bytes + holes.waiting, 20_000);
  // Thousands of them follow when the gap is filled.
  const late = Array.from({ length: 3000 }, (_, index) => piece(301 + 100 * index, 0, 100));
  const [{ missing, early }] = waiting([piece(1, 0, 100), ...late, piece(101, 0, 200)]).sides;
  assert.deepEqual([missing, early], [300_300, 3000]);
  assert.ok(waiting([piece(1, 1, 0), ...late.map(({ frame }) => piece(frame, 0, 1400))]).sides[0].missing > 100_000);
});

test('a stream goes on with the frames that come later', () => {
  const ring = new Ring();
  ring.push([...OPENING, asked].map((bytes) => frameOf(bytes)));
  const follower = new Follower(ring, ring.get(4)!);
  while (follower.look());
  assert.equal(follower.stream!.sides[1].bytes, 0);
  ring.push([frameOf(said(1, 'later'))]);
  while (follower.look());
  assert.equal(follower.stream!.sides[1].bytes, 5);
});
