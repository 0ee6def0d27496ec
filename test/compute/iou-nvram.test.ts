// The NVRAM file of IOU, byte by byte, against files whose bytes are known.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { uncompress } from '../../src/compute/emulators/iou/lzw.ts';
import { readNvram, writeNvram } from '../../src/compute/emulators/iou/nvram.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';

/** Writes configurations into a file, or into a new one. */
function written(kibibytes: number, startup: string, own: string | undefined, former?: Buffer): Buffer {
  const texts = { startup: Buffer.from(startup), private: own === undefined ? undefined : Buffer.from(own) };
  return writeNvram(former, texts, kibibytes);
}

function texts(nvram: Buffer): [string, string | undefined] {
  const found = readNvram(nvram);
  return [found.startup.toString(), found.private?.toString()];
}

const ZEROS = '00'.repeat(16);
const hex = (text: string): string => Buffer.from(text).toString('hex');

test('a new file has the bytes that are known, and a file that is written again those of its successor', () => {
  const first = written(8, 'hostname A\n', undefined);
  assert.equal(
    first.subarray(0, 64).toString('hex'),
    `abcd000123790f0410000024100000300000000c${ZEROS}686f73746e616d6520410a0afedc0001100000401000004000000000`,
  );
  assert.equal(hash('md5', first), '7990d0b7d98ac3958069f9d0ee653af8');
  const second = written(8, 'hostname ABCDE\n', 'x\n', first);
  assert.equal(
    second.subarray(0, 70).toString('hex'),
    `abcd000124de0f0410000024100000330000000f${ZEROS}${hex('hostname ABCDE\n')}00fedc0001100000441000004600000002780a`,
  );
  assert.equal(hash('md5', second), '28fde77e1e0ad69c545786b5d013bf5a');
});

test('larger files have the known bytes, too, padding included', () => {
  const small = written(64, 'hostname AB\n', 'end\n');
  assert.equal(hash('md5', small), 'ea8dd4b35d4775f903bc758985912d4b');
  const large = written(256, 'hostname ABCD\n', 'end\n', written(256, 'hostname A\n', undefined));
  assert.equal(
    large.subarray(0, 76).toString('hex'),
    `abcd0001dda00f0410000024100000320000000e${ZEROS}${hex('hostname ABCD\n')}${'00'.repeat(6)}fedc0001100000481000004c00000004656e640a`,
  );
  assert.equal(hash('md5', large), '45c296a42b052bd2cc219a0a87884d63');
});

test('what was written is read as it was, of every length', () => {
  for (const kibibytes of [8, 128, 1024]) {
    let nvram = written(kibibytes, 'x', undefined);
    for (let length = 1; length <= 9; length += 1) {
      const [startup, own] = [`${'s'.repeat(length)}\n`, `${'p'.repeat(10 - length)}\n`];
      nvram = written(kibibytes, startup, own, nvram);
      assert.deepEqual(texts(nvram), [startup, own], `${kibibytes} KiB, ${length}`);
      assert.equal(sumOf(nvram.subarray(0, nvram.length / 2)), 0xffff);
    }
  }
});

/** Of all words, folded: all ones where the checksum is right. */
function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x1_0000);
  return sum;
}

test('files of the router, its version and the second half of the NVRAM stay', () => {
  const former = written(64, 'hostname A\n', undefined);
  former.writeUInt16BE(0x0e01, 6);
  const half = former.length / 2;
  former.fill(7, half);
  const file = half - 2048 - 1024;
  former.writeUInt16BE(0xdcba, file);
  former.writeUInt16BE(1, file + 4);
  former.writeUInt16BE(5, file + 6);
  former.fill(9, file + 100, half);
  const next = written(64, 'hostname LONGER\n', 'x\n', former);
  assert.equal(next.readUInt16BE(6), 0x0e01);
  assert.ok(next.subarray(file).equals(former.subarray(file)));
  assert.deepEqual(texts(next), ['hostname LONGER\n', 'x\n']);
  // The file takes the room that the configuration would need.
  assert.throws(() => written(64, 'x'.repeat(file), undefined, former), /nvram: 64 KB are too few/);
});

test('configurations that are too long, and invalid files, are reported', () => {
  assert.throws(() => written(8, 'x'.repeat(2048), undefined), /nvram: 8 KB are too few/);
  const damaged = written(8, 'hostname A\n', undefined);
  damaged.writeUInt32BE(5000, 16);
  assert.throws(() => written(8, 'x\n', undefined, damaged), /damaged/);
  assert.throws(() => readNvram(Buffer.alloc(8192)), RangeError);
  assert.throws(() => readNvram(Buffer.alloc(10)), RangeError);
  const cut = written(8, 'hostname A\n', 'x\n').subarray(0, 40);
  assert.throws(() => readNvram(cut), /cut off/);
  // Of another size it counts as empty.
  assert.deepEqual(texts(written(16, 'a\n', undefined, written(8, 'b\n', 'c\n'))), ['a\n\n\n', '']);
});

/** Packs as `compress` does, without its program: codes of nine bits, each a plain byte. */
function packedPlainly(text: string): Buffer {
  const bits: number[] = [];
  for (const byte of Buffer.from(text)) for (let bit = 0; bit < 9; bit += 1) bits.push((byte >> bit) & 1);
  const bytes = Buffer.alloc(Math.ceil(bits.length / 8));
  for (const [at, bit] of bits.entries()) bytes[at >> 3]! |= bit << (at & 7);
  return Buffer.concat([Buffer.of(0x1f, 0x9d, 0x90), bytes]);
}

test('a compressed configuration is read', () => {
  const text = 'hostname R1\ninterface Ethernet0/0\n';
  const packed = packedPlainly(text);
  const nvram = written(8, 'x'.repeat(packed.length), 'p\n');
  nvram.writeUInt16BE(2, 2);
  packed.copy(nvram, 36);
  nvram.writeUInt32BE(packed.length, 16);
  assert.equal(readNvram(nvram).startup.toString(), text);
  for (const strange of ['1f9c90', '1f9d88', '1f9d90ffff', '1f9d9061fe07']) {
    assert.throws(() => uncompress(Buffer.from(strange, 'hex')), RangeError, strange);
  }
});

const noCompress: string | false = (await findProgram('compress')) === undefined && 'compress is not installed';

test('long texts are read that compress has packed, codes of all sizes included', { skip: noCompress }, () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, n) => `interface Ethernet${n * 7919}/${n}\n ip address 10.${n % 251}.1.${n % 7}`,
  );
  for (const input of [Buffer.from(lines.join('\n')), Buffer.alloc(50_000, 'a'), Buffer.from('ab'.repeat(3))]) {
    for (const bits of ['12', '16']) {
      const packed = execFileSync('compress', ['-c', '-f', '-b', bits], { input, maxBuffer: 1 << 24 });
      assert.ok(uncompress(packed).equals(input), `${input.length} bytes, ${bits} bits`);
    }
  }
});
