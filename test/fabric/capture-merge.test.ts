// Captures merged to one file: what tshark reads in it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CaptureFormat, LinkType } from '../../src/api/captures.ts';
import { ENCODINGS } from '../../src/fabric/capture-format.ts';
import { type MergedCapture, mergedCapture } from '../../src/fabric/capture-merge.ts';
import type { CaptureBytes } from '../../src/fabric/capture-records.ts';
import { interfaceBlock, sectionBlock, writePacket } from '../../src/fabric/pcapng.ts';
import { scratchDirectory } from '../store/scratch.ts';

const SECOND = 1_795_447_000;

const missing = spawnSync('tshark', ['--version']).error ? 'tshark is not installed' : false;

interface Given {
  format?: CaptureFormat;
  linkType?: LinkType;
  /** Nanoseconds after {@link SECOND}, and bytes on the link, of which 60 are kept. */
  frames: readonly (readonly [time: number, length: number])[];
}

function fileOf({ format = 'pcap', linkType = 'DLT_EN10MB', frames }: Given): Buffer {
  const encoding = ENCODINGS[format];
  const records = frames.map(([time, length]) => {
    const captured = Math.min(60, length);
    const record = Buffer.alloc(encoding.recordBytes(captured));
    const at = { seconds: SECOND + Math.floor(time / 1e9), nanoseconds: time % 1e9 };
    encoding.write(record, 0, at, Buffer.alloc(length, 0x5a), captured, length, length % 2 === 0);
    return record;
  });
  const end = encoding.trailer({ frames: frames.length, bytes: 0, drops: 0, filtered: 0 });
  return Buffer.concat([encoding.header({ linkType, format }), ...records, end]);
}

/** A file that comes in pieces of so many bytes. */
function bytesOf(content: Buffer, piece = 1 << 20): () => Promise<CaptureBytes> {
  let at = 0;
  const read = async (target: Buffer, offset: number): Promise<number> => {
    const count = content.copy(target, offset, at, Math.min(at + piece, content.length));
    at += count;
    return count;
  };
  return async () => ({ read, close: async () => {} });
}

const capture = (name: string, ...contents: readonly Buffer[]): MergedCapture => ({
  name,
  files: contents.map((content) => bytesOf(content)),
});

const merged = async (captures: readonly MergedCapture[]): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of mergedCapture(captures)) pieces.push(piece);
  return Buffer.concat(pieces);
};

const FIELDS = ['frame.interface_name', 'frame.time_epoch', 'frame.len', 'frame.cap_len', 'frame.encap_type'];

/** What tshark reads: a line of {@link FIELDS} for each frame; it fails where it finds anything wrong. */
async function read(t: TestContext, content: Buffer, fields = FIELDS): Promise<string[][]> {
  const file = join(await scratchDirectory(t), 'merged.pcapng');
  await writeFile(file, content);
  const words = ['-n', '-r', file, '-T', 'fields', ...fields.flatMap((field) => ['-e', field])];
  const { status, stdout, stderr } = spawnSync('tshark', words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(status, 0, stderr);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'));
}

const timeOf = (time: number): string => {
  const nanoseconds = String(time % 1e9).padStart(9, '0');
  return `${SECOND + Math.floor(time / 1e9)}.${nanoseconds}`;
};

test('captures of all formats and link types are one file by time, each with its name', {
  skip: missing,
}, async (t) => {
  const swapped = fileOf({ frames: [[1_500_000_000, 90]] });
  swapped.subarray(0, 24).swap32();
  swapped.subarray(4, 8).set([0, 2, 0, 4]);
  swapped.subarray(24, 40).swap32();
  const content = await merged([
    capture(
      'PC1 to Hub',
      fileOf({
        frames: [
          [0, 60],
          [2_000_000_000, 1514],
        ],
      }),
    ),
    capture('R1 to R2', fileOf({ format: 'nsecpcap', linkType: 'DLT_PPP_SERIAL', frames: [[1_000_000_001, 61]] })),
    capture(
      'R2 to Büro',
      fileOf({
        format: 'pcapng',
        frames: [
          [999_999_999, 62],
          [3_000_000_000, 63],
        ],
      }),
    ),
    capture('empty', fileOf({ linkType: 'DLT_FRELAY', frames: [] })),
    capture('swapped', swapped),
    // A ring: a file with another link type behind those of before, and one without a byte.
    capture(
      'ring',
      fileOf({ frames: [[5, 70]] }),
      Buffer.alloc(0),
      fileOf({ linkType: 'DLT_C_HDLC', frames: [[4e9, 71]] }),
    ),
  ]);
  assert.deepEqual(await read(t, content), [
    ['PC1 to Hub', timeOf(0), '60', '60', '1'],
    ['ring', timeOf(0), '70', '60', '1'],
    ['R2 to Büro', timeOf(999_999_999), '62', '60', '1'],
    ['R1 to R2', timeOf(1_000_000_001), '61', '60', '4'],
    ['swapped', timeOf(1_500_000_000), '90', '60', '1'],
    ['PC1 to Hub', timeOf(2_000_000_000), '1514', '60', '1'],
    ['R2 to Büro', timeOf(3_000_000_000), '63', '60', '1'],
    ['ring', timeOf(4_000_000_000), '71', '60', '28'],
  ]);
  assert.ok(content.includes('empty'), 'a capture without frames has its interface');
  const directions = await read(t, content, ['frame.len', 'frame.packet_flags_direction']);
  assert.deepEqual(directions[2], ['62', '0x00000002'], 'the direction of pcapng is kept');
});

test('equal times, cut records and pieces of any size lose and exchange nothing', { skip: missing }, async (t) => {
  const frames = Array.from({ length: 5_000 }, (_, index) => [7, 100 + (index % 1000)] as const);
  const files = CAPTURE_KINDS.map((format) => fileOf({ format, frames: frames.slice(0, 3_000) }));
  const cut = fileOf({ frames });
  const captures = [
    ...files.map((file, index) => ({ name: `c${index}`, files: [bytesOf(file, 1 + index * 977)] })),
    { name: 'cut', files: [bytesOf(cut.subarray(0, cut.length - 1), 100_000)] },
  ];
  const found = await read(t, await merged(captures), ['frame.interface_name', 'frame.len']);
  for (const [name, count] of [
    ['c0', 3_000],
    ['c1', 3_000],
    ['c2', 3_000],
    ['cut', 4_999],
  ] as const) {
    const lengths = found.filter(([of]) => of === name).map(([, length]) => Number(length));
    assert.deepEqual(
      lengths,
      frames.slice(0, count).map(([, length]) => length),
      name,
    );
  }
  assert.equal(found.length, 13_999);
});

const CAPTURE_KINDS = ['pcap', 'nsecpcap', 'pcapng'] as const;

test('damage ends its capture alone, and the file says so', { skip: missing }, async (t) => {
  const good = fileOf({
    frames: [
      [1, 60],
      [2e9, 61],
    ],
  });
  const claims = Buffer.from(good);
  claims.writeUInt32LE(0xffff_fff0, 24 + 76 + 8);
  const ng = fileOf({ format: 'pcapng', frames: [[3, 62]] });
  const late = Buffer.concat([sectionBlock(), interfaceBlock({ linkType: 1, snapLength: 0 }), Buffer.alloc(92)]);
  writePacket(late, late.length - 92, {
    ...{ number: 0, time: { seconds: 2 ** 34 - 1, nanoseconds: 0 }, frame: Buffer.alloc(60), captured: 60, length: 60 },
    flags: undefined,
  });
  late.writeUInt32LE(0xffff_ffff, late.length - 92 + 12);
  const unknown = Buffer.from(ng);
  unknown.writeUInt32LE(7, unknown.indexOf(Buffer.from([6, 0, 0, 0])) + 8);
  const content = await merged([
    capture('good', good),
    capture('claims', claims),
    capture('text', Buffer.from('no capture at all')),
    capture('late', late),
    capture('unknown', unknown),
  ]);
  assert.deepEqual(
    (await read(t, content)).map(([name, , length]) => [name, length]),
    [
      ['good', '60'],
      ['claims', '60'],
      ['good', '61'],
    ],
  );
  for (const damage of [
    'a record claims 4294967280 bytes',
    'it is no capture of pcap or pcapng',
    'a frame claims to be of second',
    'a frame is of interface 7',
  ])
    assert.ok(content.includes(`The capture is damaged: ${damage}`), damage);
});

test('files are closed when the reader leaves, or one cannot be read', async () => {
  let open = 0;
  const file = (content: Buffer, failure?: Error) => async (): Promise<CaptureBytes> => {
    open += 1;
    const bytes = await bytesOf(content, 1000)();
    const read: CaptureBytes['read'] = async (target, offset) => {
      if (failure) throw failure;
      return bytes.read(target, offset);
    };
    const close = async (): Promise<void> => {
      open -= 1;
    };
    return { read, close };
  };
  const content = fileOf({ frames: Array.from({ length: 9_000 }, (_, index) => [index, 60] as const) });
  const leaving = mergedCapture([
    { name: 'a', files: [file(content)] },
    { name: 'b', files: [file(content)] },
  ]);
  await leaving.next();
  assert.equal(open, 2);
  await leaving.return();
  assert.equal(open, 0);
  const failing = mergedCapture([
    { name: 'a', files: [file(content)] },
    { name: 'b', files: [file(content, new Error('gone'))] },
  ]);
  await assert.rejects(failing.next(), /gone/);
  assert.equal(open, 0);
});
