// What of a VNC client's bytes reaches a display that is only watched.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UnfitMessage, WatcherBytes } from '../../src/consoles/watched-display.ts';

const VERSION = Buffer.from('RFB 003.008\n');
const NO_PASSWORD = Buffer.from([1]);
const SHARED = Buffer.from([1]);
const GREETING = Buffer.concat([VERSION, NO_PASSWORD, SHARED]);

const message = (type: number, length: number, ...rest: number[]): Buffer => {
  const bytes = Buffer.alloc(length, 0x5a);
  Buffer.from([type, ...rest]).copy(bytes);
  return bytes;
};

/** What chooses what this client is sent. */
const PASSED: Readonly<Record<string, Buffer>> = {
  'pixel format': message(0, 20),
  encodings: message(2, 4 + 4 * 3, 0, 0, 3),
  'no encodings': message(2, 4, 0, 0, 0),
  'update request': message(3, 10),
  'continuous updates': message(150, 10),
  fence: message(248, 9 + 5, 0, 0, 0, 0, 0, 0, 1, 5),
};

/** What would change something. */
const DROPPED: Readonly<Record<string, Buffer>> = {
  key: message(4, 8, 1),
  pointer: message(5, 6, 1),
  'pointer of many buttons': message(5, 7, 0x80),
  text: message(6, 8 + 6, 0, 0, 0, 0, 0, 0, 6),
  'no text': message(6, 8, 0, 0, 0, 0, 0, 0, 0),
  'text with formats': message(6, 8 + 8, 0, 0, 0, 0xff, 0xff, 0xff, 0xf8),
  'switch off': message(250, 4, 0, 1, 2),
  size: message(251, 8 + 2 * 16, 0, 0, 0, 0, 0, 2, 0),
  'key of QEMU': message(255, 12, 0, 0, 1),
  'sound of QEMU': message(255, 4, 1, 0, 1),
  'format of the sound of QEMU': message(255, 10, 1, 0, 2),
};

function pass(pieces: readonly Uint8Array[], reader = new WatcherBytes()): Buffer {
  return Buffer.concat(pieces.map((piece) => reader.take(piece)));
}

/** The bytes in pieces that begin at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const edges = [0, ...places.map((place) => place % bytes.length).toSorted((one, other) => one - other), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index]!, end));
}

test('what asks for the picture passes, what types, points, pastes, resizes or switches off does not, cut at every byte', () => {
  for (const [name, dropped] of Object.entries(DROPPED)) {
    for (const [other, passed] of Object.entries(PASSED)) {
      const bytes = Buffer.concat([GREETING, dropped, passed, dropped, passed]);
      const expected = Buffer.concat([GREETING, passed, passed]);
      for (let at = 0; at <= bytes.length; at++) {
        const [first, second] = [bytes.subarray(0, at), bytes.subarray(at)];
        assert.deepEqual(pass([first, second]), expected, `${name}, then ${other}, cut at ${at}`);
      }
      assert.deepEqual(
        pass([...bytes].map((byte) => Uint8Array.of(byte))),
        expected,
        `${name}, then ${other}, byte by byte`,
      );
    }
  }
});

test('any messages in any pieces: the display gets the same, and nothing but whole messages that it may get', () => {
  const all = [
    ...Object.values(PASSED).map((bytes) => ({ bytes, passes: true })),
    ...Object.values(DROPPED).map((bytes) => ({ bytes, passes: false })),
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...all)), fc.array(fc.nat()), (messages, places) => {
      const bytes = Buffer.concat([GREETING, ...messages.map((one) => one.bytes)]);
      const expected = Buffer.concat([GREETING, ...messages.filter((one) => one.passes).map((one) => one.bytes)]);
      assert.deepEqual(pass(cut(bytes, places)), expected);
    }),
  );
});

test('whatever a client makes up, no message that changes something begins in what the display gets', () => {
  const lengths = new Map<number, (bytes: Buffer) => number>([
    [0, () => 20],
    [2, (bytes) => 4 + 4 * bytes.readUInt16BE(2)],
    [3, () => 10],
    [150, () => 10],
    [248, (bytes) => 9 + bytes[8]!],
  ]);
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom(...Object.values(PASSED), ...Object.values(DROPPED)),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const reader = new WatcherBytes();
      let got = pass([GREETING], reader).subarray(GREETING.length);
      try {
        for (const one of pieces) got = Buffer.concat([got, reader.take(one)]);
      } catch (error) {
        assert.ok(error instanceof UnfitMessage);
      }
      while (got.length > 0) {
        const length = lengths.get(got[0]!)?.(got);
        assert.ok(length !== undefined && length <= got.length, `message ${got[0]}`);
        got = got.subarray(length);
      }
    }),
    { numRuns: 500 },
  );
});

test('a viewer disconnects no other, logs in by a password, and waits for no text to its end', () => {
  const alone = Buffer.concat([VERSION, NO_PASSWORD, Buffer.from([0])]);
  assert.deepEqual(pass([alone]), GREETING, 'all are to go on watching');
  const answer = Buffer.alloc(16, 7);
  const login = Buffer.concat([VERSION, Buffer.from([2]), answer, SHARED, DROPPED['key']!, PASSED['fence']!]);
  const expected = Buffer.concat([VERSION, Buffer.from([2]), answer, SHARED, PASSED['fence']!]);
  assert.deepEqual(pass([...login].map((byte) => Uint8Array.of(byte))), expected);

  const reader = new WatcherBytes();
  const text = message(6, 8, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff);
  pass([GREETING, text], reader);
  const before = process.memoryUsage().arrayBuffers;
  const part = Buffer.alloc(1024 * 1024);
  for (let count = 0; count < 64; count++) assert.equal(reader.take(part).length, 0);
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024, 'a text of 2 GiB is not kept');
});

test('what is not known ends the connection with a sentence', () => {
  const cases: readonly [RegExp, Uint8Array][] = [
    [/RFB 3\.7 and 3\.8/, Buffer.from('RFB 003.003\n')],
    [/RFB 3\.7 and 3\.8/, Buffer.from('GET / HTTP/1')],
    [/security type 19/, Buffer.concat([VERSION, Buffer.from([19])])],
    [/Message 7 is not known/, Buffer.concat([GREETING, Buffer.from([7])])],
    [/Message 253 is not known/, Buffer.concat([GREETING, PASSED['fence']!, Buffer.from([253])])],
    [/Message 9 of QEMU/, Buffer.concat([GREETING, Buffer.from([255, 9, 0, 0])])],
    [/2000 encodings: name at most 1024/, Buffer.concat([GREETING, Buffer.from([2, 0, 0x07, 0xd0])])],
  ];
  for (const [sentence, bytes] of cases) {
    assert.throws(
      () => pass([bytes]),
      (error) => error instanceof UnfitMessage && sentence.test(error.message),
    );
  }
});
