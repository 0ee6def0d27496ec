import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CAPTURE_FORMATS } from '../../src/api/captures.ts';
import { ENCODINGS, wholeRecords } from '../../src/fabric/capture-format.ts';
import { scratchDirectory } from '../store/scratch.ts';

const run = promisify(execFile);
const time = { seconds: 1_700_000_000, nanoseconds: 123_456_789 };

test('the file header is that of pcap 2.4, little endian, with the link type as registered', () => {
  const { pcap, nsecpcap } = ENCODINGS;
  assert.equal(
    pcap.header({ linkType: 'DLT_EN10MB' }).toString('hex'),
    'd4c3b2a1020004000000000000000000ffff000001000000',
  );
  assert.equal(
    nsecpcap.header({ linkType: 'DLT_EN10MB', snapLength: 96 }).toString('hex'),
    '4d3cb2a10200040000000000000000006000000001000000',
  );
  const types = ['DLT_FRELAY', 'DLT_C_HDLC', 'DLT_PPP_SERIAL', 'DLT_ATM_RFC1483'] as const;
  assert.deepEqual(
    types.map((linkType) => pcap.header({ linkType }).readUInt32LE(20)),
    [107, 104, 50, 100],
  );
});

test('a record carries seconds, micro- or nanoseconds, both lengths and what is kept of the frame', () => {
  for (const [format, fraction] of [
    ['pcap', 123_456],
    ['nsecpcap', 123_456_789],
  ] as const) {
    const target = Buffer.alloc(64);
    const end = ENCODINGS[format].write(target, 8, time, Buffer.from('frame and more'), 5, 14, true);
    assert.equal(end, 8 + ENCODINGS[format].recordBytes(5));
    assert.deepEqual(
      [8, 12, 16, 20].map((offset) => target.readUInt32LE(offset)),
      [1_700_000_000, fraction, 5, 14],
    );
    assert.equal(target.toString('latin1', 24, end), 'frame');
  }
});

test('pcapng times are exact to the nanosecond, also beyond 2106', () => {
  for (const seconds of [0, 1, 65_535, 65_536, 1_763_650_000, 2 ** 32 - 1, 2 ** 32 + 77_777]) {
    const target = Buffer.alloc(128);
    ENCODINGS.pcapng.write(target, 0, { seconds, nanoseconds: 999_999_999 }, Buffer.from('x'), 1, 1, false);
    const told = (BigInt(target.readUInt32LE(12)) << 32n) | BigInt(target.readUInt32LE(16));
    assert.equal(told, BigInt(seconds) * 1_000_000_000n + 999_999_999n);
  }
});

test('whole records are distinguished from a piece of one, in every format', () => {
  for (const format of CAPTURE_FORMATS) {
    const encoding = ENCODINGS[format];
    const records = Buffer.alloc(200);
    const first = encoding.write(records, 0, time, Buffer.from('abc'), 3, 3, true);
    const second = encoding.write(records, first, time, Buffer.from('defgh'), 5, 5, false);
    assert.deepEqual([first, second - first], [encoding.recordBytes(3), encoding.recordBytes(5)]);
    const file = records.subarray(0, second);
    const limits = [0, 10, first - 1, first, first + 16, second - 1, second];
    assert.deepEqual(
      limits.map((limit) => wholeRecords(encoding, file, limit)),
      [0, 0, 0, first, first, first, second],
    );
  }
});

test('tshark reads times, lengths, names, directions, the filter and the counters as they were written', async (t) => {
  const version = await run('tshark', ['--version']).catch(() => undefined);
  if (version === undefined) return t.skip('tshark is not installed');
  const directory = await scratchDirectory(t);
  for (const [format, fraction] of [
    ['pcap', '123456000'],
    ['nsecpcap', '123456789'],
    ['pcapng', '123456789'],
  ] as const) {
    const encoding = ENCODINGS[format];
    const settings = {
      linkType: 'DLT_EN10MB',
      filter: { expression: 'not stp', program: new Uint32Array() },
      interface: { name: 'PC1 0/0', description: 'PC1 Ethernet0 – Übung' },
    } as const;
    const records = Buffer.alloc(4096);
    let end = encoding.write(records, 0, time, Buffer.alloc(100, 1), 61, 100, true);
    end = encoding.write(records, end, time, Buffer.alloc(64, 2), 64, 64, false);
    const trailer = encoding.trailer({ frames: 2, bytes: 164, drops: 3, filtered: 4 });
    const file = join(directory, format);
    await writeFile(file, Buffer.concat([encoding.header(settings), records.subarray(0, end), trailer]));
    const fields = ['frame.time_epoch', 'frame.len', 'frame.cap_len'];
    const more =
      format === 'pcapng'
        ? ['frame.interface_name', 'frame.interface_description', 'frame.packet_flags_direction']
        : [];
    const { stdout } = await run('tshark', [
      '-r',
      file,
      '-T',
      'fields',
      ...[...fields, ...more].flatMap((f) => ['-e', f]),
    ]);
    const [one, two] = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
    assert.deepEqual(
      [one!.slice(1, 3), two!.slice(1, 3)],
      [
        ['100', '61'],
        ['64', '64'],
      ],
    );
    assert.ok(one![0]!.endsWith(fraction) || one![0]!.includes(fraction.slice(0, 9)), one![0]);
    if (format === 'pcapng') {
      const names = ['PC1 0/0', 'PC1 Ethernet0 – Übung'];
      assert.deepEqual(one!.slice(3, 5), names);
      assert.deepEqual([one![5], two![5]].map(Number), [2, 1]);
    }
  }
});
