import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileHeader, wholeRecords, writeRecord } from '../../src/fabric/pcap.ts';

test('the file header is that of pcap 2.4, little endian, with the link type as registered', () => {
  assert.equal(fileHeader('DLT_EN10MB').toString('hex'), 'd4c3b2a1020004000000000000000000ffff000001000000');
  const types = ['DLT_FRELAY', 'DLT_C_HDLC', 'DLT_PPP_SERIAL', 'DLT_ATM_RFC1483'] as const;
  assert.deepEqual(
    types.map((type) => fileHeader(type).readUInt32LE(20)),
    [107, 104, 50, 100],
  );
});

test('a record carries seconds, microseconds, both lengths and the frame', () => {
  const target = Buffer.alloc(64);
  const end = writeRecord(target, 8, 1_700_000_000_123_456.5, Buffer.from('frame and more'), 5);
  assert.equal(end, 8 + 16 + 5);
  assert.deepEqual(
    [8, 12, 16, 20].map((offset) => target.readUInt32LE(offset)),
    [1_700_000_000, 123_456, 5, 5],
  );
  assert.equal(target.toString('latin1', 24, end), 'frame');
});

test('whole records are told from a piece of one', () => {
  const records = Buffer.alloc(100);
  const first = writeRecord(records, 0, 0, Buffer.from('abc'), 3);
  const second = writeRecord(records, first, 0, Buffer.from('defgh'), 5);
  const file = records.subarray(0, second);
  const limits = [0, 10, first - 1, first, first + 16, second - 1, second];
  assert.deepEqual(
    limits.map((limit) => wholeRecords(file, limit)),
    [0, 0, 0, first, first, first, second],
  );
});
