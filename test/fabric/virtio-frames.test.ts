// Frames that only a guest writes, with the virtio-net headers of its driver: whatever it writes, the labs go on.
import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { Fabric, FabricPort, InterfaceChange } from '../../src/fabric/fabric.ts';
import { makeProgramTap } from '../../src/host/system-calls.ts';
import { startFabric } from './kernel-peers.ts';
import { cannotMakeInterfaces, ip, removeAfter, uniqueName } from './namespaces.ts';
import { ends, settled, until } from './peers.ts';

const skip = cannotMakeInterfaces;
const PLAIN = Buffer.alloc(10);
const TCP = 6;
const UDP = 17;

/** A virtio-net header for a packet over IPv4 without options. */
function virtio(type: number, headerBytes: number, segmentBytes: number, checksumOffset: number): Buffer {
  const header = Buffer.from([1, type, 0, 0, 0, 0, 0, 0, 0, 0]);
  for (const [index, value] of [headerBytes, segmentBytes, 34, checksumOffset].entries())
    header.writeUInt16LE(value, 2 + 2 * index);
  return header;
}

function ip4(protocol: number, packet: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + packet.length, 2);
  header[8] = 64;
  header[9] = protocol;
  header.set([10, 0, 0, 1, 10, 0, 0, 2], 12);
  return Buffer.concat([Buffer.from('0200000000020200000000010800', 'hex'), header, packet]);
}

function udp(bytes: number): Buffer {
  const packet = Buffer.alloc(8 + bytes);
  packet.writeUInt16BE(packet.length, 4);
  return ip4(UDP, packet);
}

function tcp(bytes: number, headerWords = 5): Buffer {
  const packet = Buffer.alloc(20 + bytes);
  packet[12] = headerWords << 4;
  packet[13] = 0x10;
  return ip4(TCP, packet);
}

interface Guest {
  fabric: Fabric;
  port: FabricPort;
  changes: InterfaceChange[];
  write: (header: Buffer, frame: Buffer) => void;
}

/** A guest's TAP whose link leads to another one. */
async function guest(t: TestContext, kernelLinks: 'automatic' | 'off'): Promise<Guest> {
  const fabric = await startFabric(t, kernelLinks);
  const changes: InterfaceChange[] = [];
  const taps: number[] = [];
  const ports: FabricPort[] = [];
  const cables = await ends();
  for (const cable of cables) {
    const name = uniqueName();
    taps.push(makeProgramTap(name));
    removeAfter(t, name);
    await ip('link', 'set', name, 'mtu', '65521', 'up');
    const device = { kind: 'packet', interface: name, ...(kernelLinks === 'automatic' && { kernel: true }) } as const;
    const port = await fabric.createPort(device, (change) => changes.push(change), 'lab');
    await port.connect(cable);
    ports.push(port);
  }
  const [tap, port] = [taps[0]!, ports[0]!];
  return { fabric, port, changes, write: (header, frame) => writeSync(tap, Buffer.concat([header, frame])) };
}

test('a frame longer than 64 KiB is delayed as others, and ends no lab', { skip }, async (t) => {
  const { fabric, port, write } = await guest(t, 'off');
  const crashes: unknown[] = [];
  fabric.on('crashed', (crash) => crashes.push(crash));
  await port.impair({ delay: { latency: 1, jitter: 0 } });
  write(PLAIN, Buffer.alloc(65_537, 0x88));
  await settled(port, ({ toCable }) => toCable.bytes === 65_537);
  assert.deepEqual(crashes, []);
});

test('a datagram that a guest leaves uncut is lost alone: its interface stays open', { skip }, async (t) => {
  const { port, changes, write } = await guest(t, 'off');
  write(virtio(3, 42, 1480, 6), udp(4000));
  write(PLAIN, udp(100));
  const { drops } = await settled(port, ({ toCable }) => toCable.frames === 1);
  assert.equal(drops.malformed, 1);
  assert.deepEqual(changes, []);
});

test('a super-frame that would be cut into single bytes keeps no other lab waiting', { skip }, async (t) => {
  const { port, write } = await guest(t, 'off');
  write(virtio(1, 54, 1, 16), tcp(65_000));
  const { toCable } = await settled(port, ({ drops }) => drops.malformed === 1);
  assert.equal(toCable.frames, 0);
});

test('a frame that claims more headers than it has bytes counts as one where the kernel forwards', {
  skip,
}, async (t) => {
  const { fabric, port, write } = await guest(t, 'automatic');
  await until(async () => (await port.statistics()).path.by === 'kernel');
  write(virtio(1, 54, 1, 16), tcp(2, 15));
  await until(async () => (await port.statistics()).toCable.frames > 0);
  const { toCable } = await port.statistics();
  assert.deepEqual(toCable, { frames: 1, bytes: 56 });
  assert.equal((await fabric.totals()).toCable.frames, 1);
  await port.resetStatistics();
});
