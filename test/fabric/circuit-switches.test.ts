import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { DeviceKind, FabricPort, MemoryDevice } from '../../src/fabric/fabric.ts';
import type { AtmCircuit, FrameRelayCircuit } from '../../src/fabric/model.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { devicePort, type Peer, settled, startFabric } from './peers.ts';

interface At {
  peer: Peer;
  port: FabricPort;
  send(...frames: Buffer[]): Promise<void>;
}

type Fabric = Awaited<ReturnType<typeof startFabric>>;

async function peerAt(t: TestContext, fabric: Fabric, device: MemoryDevice<DeviceKind>, number: number): Promise<At> {
  const { peer, port, localPort } = await devicePort(t, fabric, device, number);
  return { peer, port, send: (...frames) => peer.send(localPort, ...frames) };
}

/** A Frame Relay switch with peers at the ports that are given. */
async function frameRelay<Numbers extends number[]>(
  t: TestContext,
  circuits: FrameRelayCircuit[],
  ...numbers: Numbers
): Promise<{ device: MemoryDevice<'frame-relay-switch'>; fabric: Fabric; at: { [Index in keyof Numbers]: At } }> {
  const fabric = await startFabric(t);
  const device = await fabric.createDevice('frame-relay-switch', { circuits });
  const at: At[] = [];
  for (const number of numbers) at.push(await peerAt(t, fabric, device, number));
  return { device, fabric, at: at as { [Index in keyof Numbers]: At } };
}

/** A frame of a DLCI; `bits` are the lower two of the first byte and the lower four of the second. */
function relayed(dlci: number, payload: string, bits: [number, number] = [0, 1]): Buffer {
  return Buffer.concat([
    Buffer.from([((dlci >> 4) << 2) | bits[0], ((dlci & 0x0f) << 4) | bits[1]]),
    Buffer.from(payload),
  ]);
}

test('a Frame Relay switch exchanges the DLCIs in both directions and keeps the other bits of the address', async (t) => {
  const circuits: FrameRelayCircuit[] = [
    [
      { port: 1, dlci: 101 },
      { port: 10, dlci: 202 },
    ],
    [
      { port: 1, dlci: 300 },
      { port: 2, dlci: 300 },
    ],
  ];
  const { at } = await frameRelay(t, circuits, 1, 2, 10);
  const [one, two, ten] = at;
  // Response, forward and backward congestion, eligible to be dropped.
  const bits: [number, number] = [0x02, 0x0f];
  await one.send(relayed(101, 'to ten', bits), relayed(300, 'to two', bits));
  assert.deepEqual(await ten.peer.take(1), [relayed(202, 'to ten', bits)]);
  assert.deepEqual(await two.peer.take(1), [relayed(300, 'to two', bits)]);
  await ten.send(relayed(202, 'to one'));
  assert.deepEqual(await one.peer.take(1), [relayed(101, 'to one')]);
});

test('frames of no circuit, of longer addresses and without contents are dropped and counted', async (t) => {
  const { at } = await frameRelay(t, [[{ port: 1, dlci: 101 }, { port: 2, dlci: 202 }]], 1, 2); // biome-ignore format: one circuit
  const [one, two] = at;
  // Four bytes of address (Q.922, figure 1): the second says that more follow.
  await one.send(relayed(102, 'unknown'), Buffer.from([0x18, 0x50, 0x02, 0x03, 0x41]), relayed(101, ''));
  await settled(one.port, ({ drops }) => drops.noCircuit === 2 && drops.runt === 1);
  await one.send(relayed(101, 'known'));
  assert.deepEqual(await two.peer.take(1), [relayed(202, 'known')]);
});

test('a circuit whose other port has no cable takes no frames, and circuits can change at any time', async (t) => {
  const { device, fabric, at } = await frameRelay(t, [[{ port: 1, dlci: 101 }, { port: 2, dlci: 202 }]], 1); // biome-ignore format: one circuit
  const [one] = at;
  await one.send(relayed(101, 'too early'));
  await settled(one.port, ({ drops }) => drops.noCircuit === 1);
  const two = await peerAt(t, fabric, device, 2);
  await one.send(relayed(101, 'now'));
  assert.deepEqual(await two.peer.take(1), [relayed(202, 'now')]);
  await device.configure({ circuits: [[{ port: 2, dlci: 500 }, { port: 1, dlci: 101 }]] }); // biome-ignore format: one circuit
  await one.send(relayed(101, 'elsewhere'));
  assert.deepEqual(await two.peer.take(1), [relayed(500, 'elsewhere')]);
});

const MANAGEMENT: FrameRelayCircuit[] = [
  [
    { port: 1, dlci: 101 },
    { port: 2, dlci: 202 },
  ],
  [
    { port: 1, dlci: 102 },
    { port: 3, dlci: 302 },
  ],
];

// A full enquiry of each dialect with number 7, and the answer with number 1: DLCI 101 is active, 102, whose other port has no cable, is not.
const DIALECTS: [string, string, string][] = [
  [
    'ANSI T1.617 Annex D',
    '0001 03 08 00 75 95 01 01 00 03 02 07 00',
    '0001 03 08 00 7d 95 01 01 00 03 02 01 07 07 03 06 a8 82 07 03 06 b0 80',
  ],
  [
    'ITU-T Q.933 Annex A',
    '0001 03 08 00 75 51 01 00 53 02 07 00',
    '0001 03 08 00 7d 51 01 00 53 02 01 07 57 03 06 a8 82 57 03 06 b0 80',
  ],
  [
    'Cisco',
    'fcf1 03 09 00 75 01 01 00 03 02 07 00',
    'fcf1 03 09 00 7d 01 01 00 03 02 01 07 07 06 0065 02 000000 07 06 0066 00 000000',
  ],
];

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

for (const [name, enquiry, answer] of DIALECTS) {
  test(`a router's status enquiries are answered in its dialect: ${name}`, async (t) => {
    const { at } = await frameRelay(t, MANAGEMENT, 1, 2);
    const [one, two] = at;
    await one.send(hex(enquiry));
    assert.deepEqual((await one.peer.take(1))[0]!.toString('hex'), hex(answer).toString('hex'));
    // The next time only the sequence numbers are asked for.
    const integrity = hex(enquiry.replace(/(01|51) 01 00/, '$1 01 01'));
    await one.send(integrity);
    const [second] = await one.peer.take(1);
    const expected = hex(answer.replace(/(01|51) 01 00/, '$1 01 01').replace(/(03|53) 02 01 07.*/, '$1 02 02 07'));
    assert.equal(second!.toString('hex'), expected.toString('hex'));
    assert.deepEqual(two.peer.heard, []);
  });
}

test('frames on the management DLCIs that are no enquiries are dropped', async (t) => {
  const { at } = await frameRelay(t, MANAGEMENT, 1);
  const [one] = at;
  const [, enquiry] = DIALECTS[0]!;
  const bad = [
    '0001 03',
    '0001 03 08 00 7d 95',
    enquiry.replace('03 08', '03 09'),
    enquiry.replace(/03 02 07 00$/, '03 02 07'),
  ];
  await one.send(...bad.map(hex));
  await settled(one.port, ({ drops }) => drops.noCircuit === bad.length);
  assert.deepEqual(one.peer.heard, []);
});

test('a full status reports as many circuits as a frame has room for', async (t) => {
  const circuits = Array.from(
    { length: 900 },
    (_, index): FrameRelayCircuit => [
      { port: 1, dlci: 16 + index },
      { port: 2, dlci: 16 + index },
    ],
  );
  const { at } = await frameRelay(t, circuits, 1);
  await at[0].send(hex(DIALECTS[0]![1]));
  const [answer] = await at[0].peer.take(1);
  assert.ok(answer!.length <= 1502 && answer!.length > 1490, `${answer!.length} bytes`);
});

test('tshark reads the answers as what they are', async (t) => {
  try {
    execFileSync('tshark', ['--version'], { stdio: 'ignore' });
  } catch {
    return t.skip('tshark is not installed');
  }
  const file = join(await scratchDirectory(t), 'answers.pcap');
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(65_535, 16);
  header.writeUInt32LE(107, 20); // DLT_FRELAY
  const records = DIALECTS.map(([, , answer]) => {
    const bytes = hex(answer);
    const record = Buffer.alloc(16);
    record.writeUInt32LE(bytes.length, 8);
    record.writeUInt32LE(bytes.length, 12);
    return Buffer.concat([record, bytes]);
  });
  await writeFile(file, Buffer.concat([header, ...records]));
  const text = execFileSync('tshark', ['-r', file, '-V'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

  assert.doesNotMatch(text, /Malformed/);
  assert.equal(text.match(/STATUS \(0x7d\)|Status \(125\)|: Status/g)?.length, 3);
});

/** A cell with a checksum that fits its header. */
function cell(vpi: number, vci: number, rest: number, payload: string): Buffer {
  const bytes = Buffer.alloc(53);
  bytes.writeUInt32BE(((vpi << 20) | (vci << 4) | rest) >>> 0, 0);
  let checksum = 0;
  for (const byte of bytes.subarray(0, 4)) {
    checksum ^= byte;
    for (let bit = 0; bit < 8; bit++) checksum = checksum & 0x80 ? ((checksum << 1) ^ 0x07) & 0xff : checksum << 1;
  }
  bytes[4] = checksum ^ 0x55;
  bytes.write(payload, 5);
  return bytes;
}

test('the checksum of the test is the one that the standard shows', () => {
  // The header of an idle cell (ITU-T I.432.1, table 4).
  assert.equal(cell(0, 0, 1, '')[4], 0x52);
});

async function atm(t: TestContext, circuits: AtmCircuit[], numbers: number[]): Promise<At[]> {
  const fabric = await startFabric(t);
  const device = await fabric.createDevice('atm-switch', { circuits });
  const at: At[] = [];
  for (const number of numbers) at.push(await peerAt(t, fabric, device, number));
  return at;
}

test('an ATM switch passes channels by VPI and VCI and paths by VPI alone, in both directions, with the right checksum', async (t) => {
  const [one, two, three] = (await atm(
    t,
    [
      [
        { port: 1, vpi: 10, vci: 100 },
        { port: 2, vpi: 11, vci: 65_000 },
      ],
      [
        { port: 1, vpi: 20 },
        { port: 3, vpi: 4000 },
      ],
      [
        { port: 1, vpi: 20, vci: 7 },
        { port: 2, vpi: 20, vci: 7 },
      ],
    ],
    [1, 2, 3],
  )) as [At, At, At];
  await one.send(cell(10, 100, 0x0f, 'channel'), cell(20, 33, 0x02, 'path'), cell(20, 7, 0, 'channel first'));
  assert.deepEqual(await two.peer.take(2), [cell(11, 65_000, 0x0f, 'channel'), cell(20, 7, 0, 'channel first')]);
  assert.deepEqual(await three.peer.take(1), [cell(4000, 33, 0x02, 'path')]);
  await two.send(cell(11, 65_000, 0, 'back'));
  await three.send(cell(4000, 12, 0, 'back, too'));
  assert.deepEqual(
    (await one.peer.take(2)).map(String).sort(),
    [cell(10, 100, 0, 'back'), cell(20, 12, 0, 'back, too')].map(String).sort(),
  );
});

test('cells of no circuit, and packets that are no cell, are dropped and counted', async (t) => {
  const [one, two] = (await atm(t, [[{ port: 1, vpi: 1 }, { port: 2, vpi: 2 }]], [1, 2])) as [At, At]; // biome-ignore format: one circuit
  await one.send(cell(9, 9, 0, ''), Buffer.alloc(52), Buffer.alloc(106));
  await settled(one.port, ({ drops }) => drops.noCircuit === 2 && drops.runt === 1);
  await one.send(cell(1, 5, 0, 'good'));
  assert.deepEqual(await two.peer.take(1), [cell(2, 5, 0, 'good')]);
});
