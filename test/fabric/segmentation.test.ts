import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Segmentation } from '../../src/fabric/plane/segmentation.ts';
import { type Sender, Turn } from '../../src/fabric/plane/turn.ts';
import { FrameCalls } from '../../src/host/system-calls.ts';
import { noPython } from '../host/datagrams.ts';
import { cablePair, cannotMakeInterfaces, ip, Namespace, uniqueName } from './namespaces.ts';
import { ends, freePort, startFabric } from './peers.ts';

const TCP = 6;
const UDP = 17;
const TYPES = { [`4/${TCP}`]: 1, [`6/${TCP}`]: 4, [`4/${UDP}`]: 5, [`6/${UDP}`]: 5 };

interface Shape {
  version: 4 | 6;
  protocol: typeof TCP | typeof UDP;
  /** VLAN tags, in hexadecimal. */
  tags?: string[];
  /** Bytes of options in the headers of IP and TCP. */
  ipOptions?: number;
  tcpOptions?: number;
  payload: Buffer;
  segmentBytes: number;
}

interface SuperFrame {
  bytes: Buffer;
  /** Where the headers of IP and of TCP or UDP begin, and where the payload does. */
  network: number;
  transport: number;
  headers: number;
}

/** Sum of RFC 1071, byte by byte. */
function sum(bytes: Uint8Array): number {
  let total = 0;
  for (const [index, byte] of bytes.entries()) total += index % 2 === 0 ? byte << 8 : byte;
  while (total > 0xffff) total = (total & 0xffff) + Math.floor(total / 0x10000);
  return total;
}

function pseudoHeader(frame: Buffer, { network, transport }: SuperFrame, { version, protocol }: Shape): Buffer {
  const addresses =
    version === 4 ? frame.subarray(network + 12, network + 20) : frame.subarray(network + 8, network + 40);
  const rest = Buffer.alloc(8);
  rest.writeUInt32BE(frame.length - transport, 0);
  rest.writeUInt32BE(protocol, 4);
  return Buffer.concat([addresses, rest]);
}

/** A super-frame as Linux hands it out: the field of the checksum holds the sum of the pseudo-header. */
function superFrame(shape: Shape): SuperFrame {
  const { version, protocol, tags = [], ipOptions = 0, tcpOptions = 0, payload } = shape;
  const ethernet = Buffer.from(`0200000000aa0200000000bb${tags.join('')}${version === 4 ? '0800' : '86dd'}`, 'hex');
  const ip = Buffer.alloc(version === 4 ? 20 + ipOptions : 40);
  const above = Buffer.alloc(protocol === TCP ? 20 + tcpOptions : 8);
  const total = ip.length + above.length + payload.length;
  if (version === 4) {
    ip[0] = 0x40 + ip.length / 4;
    ip.writeUInt16BE(total & 0xffff, 2);
    ip.writeUInt16BE(0xfffe, 4);
    ip[8] = 64;
    ip[9] = protocol;
    Buffer.from([192, 0, 2, 1, 192, 0, 2, 2]).copy(ip, 12);
  } else {
    ip[0] = 0x60;
    ip.writeUInt16BE((total - 40) & 0xffff, 4);
    ip[6] = protocol;
    ip[7] = 64;
    Buffer.from('20010db8000000000000000000000001', 'hex').copy(ip, 8);
    Buffer.from('20010db8000000000000000000000002', 'hex').copy(ip, 24);
  }
  above.writeUInt16BE(5001, 0);
  above.writeUInt16BE(5002, 2);
  if (protocol === TCP) {
    above.writeUInt32BE(0xffffff00, 4);
    above[12] = (above.length / 4) << 4;
    // CWR, ACK, PSH and FIN.
    above[13] = 0x99;
  } else {
    above.writeUInt16BE((8 + payload.length) & 0xffff, 4);
  }
  const bytes = Buffer.concat([ethernet, ip, above, payload]);
  const network = ethernet.length;
  const frame = { bytes, network, transport: network + ip.length, headers: network + ip.length + above.length };
  bytes.writeUInt16BE(sum(pseudoHeader(bytes, frame, shape)), frame.transport + (protocol === TCP ? 16 : 6));
  return frame;
}

/** Keeps frames as somebody who sends them when the turn ends. */
class Keeper implements Sender {
  readonly frames: Buffer[] = [];
  readonly #workshop: Workshop;
  readonly #waiting: number[] = [];

  constructor(workshop: Workshop) {
    this.#workshop = workshop;
  }

  send(slot: number): void {
    if (this.#waiting.push(slot) === 1) this.#workshop.turn.addSender(this);
  }

  flush(): void {
    const { calls, segmentation } = this.#workshop;
    for (const slot of this.#waiting) {
      assert.ok(segmentation.isPlain(slot), 'nothing is left to be done to it');
      this.frames.push(Buffer.from(calls.slots[slot]!.subarray(0, calls.lengthOf(slot))));
    }
    this.#waiting.length = 0;
  }
}

class Workshop {
  readonly calls = new FrameCalls();
  readonly turn = new Turn(this.calls);
  readonly segmentation = new Segmentation(this.calls, this.turn);

  /** Puts a frame into slot 0 with its virtio-net header. Answers whether it is admitted. */
  receive(bytes: Buffer, header: readonly number[]): boolean {
    this.turn.end();
    bytes.copy(this.calls.slots[0]!);
    this.calls.offloads.set(header, 0);
    this.turn.occupy(1);
    this.calls.setLength(0, bytes.length);
    return this.segmentation.admit(0, bytes.length);
  }

  /** The real frames that somebody gets. */
  cut(length: number): Buffer[] {
    const keeper = new Keeper(this);
    this.segmentation.each(0, length, keeper);
    this.turn.end();
    return keeper.frames;
  }
}

function headerOf({ transport, headers }: SuperFrame, { version, protocol, segmentBytes }: Shape): number[] {
  const type = TYPES[`${version}/${protocol}`]!;
  return [1 | (type << 8), headers, segmentBytes, transport, protocol === TCP ? 16 : 6];
}

function bytesOf(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * 7) ^ (index >> 8)));
}

const SHAPES: Record<string, Shape> = {
  'TCP over IPv4': { version: 4, protocol: TCP, tcpOptions: 12, payload: bytesOf(65_160), segmentBytes: 1448 },
  'TCP over IPv4 with options, and a last frame of one byte': {
    version: 4,
    protocol: TCP,
    ipOptions: 8,
    payload: bytesOf(4001),
    segmentBytes: 1000,
  },
  'TCP over IPv4 in frames of odd length': { version: 4, protocol: TCP, payload: bytesOf(5000), segmentBytes: 999 },
  'TCP over IPv4 with two VLAN tags': {
    version: 4,
    protocol: TCP,
    tags: ['88a80064', '81000005'],
    payload: bytesOf(9000),
    segmentBytes: 1440,
  },
  'TCP over IPv6': { version: 6, protocol: TCP, tcpOptions: 12, payload: bytesOf(64_000), segmentBytes: 1428 },
  'UDP over IPv4': { version: 4, protocol: UDP, payload: bytesOf(12_345), segmentBytes: 1200 },
  'UDP over IPv6 with a VLAN tag': {
    version: 6,
    protocol: UDP,
    tags: ['8100e005'],
    payload: bytesOf(3001),
    segmentBytes: 1200,
  },
  'more frames than there are slots': { version: 4, protocol: TCP, payload: bytesOf(5000), segmentBytes: 8 },
};

for (const [title, shape] of Object.entries(SHAPES)) {
  test(`a super-frame is cut into frames that a receiver takes for the sender's: ${title}`, () => {
    const workshop = new Workshop();
    const frame = superFrame(shape);
    const { bytes, network, transport, headers } = frame;
    assert.equal(workshop.receive(bytes, headerOf(frame, shape)), true);
    const count = Math.ceil(shape.payload.length / shape.segmentBytes);
    assert.equal(workshop.segmentation.framesIn(0), count);
    const total = workshop.segmentation.bytesIn(0, bytes.length);
    const frames = workshop.cut(bytes.length);
    assert.equal(frames.length, count);
    assert.equal(
      frames.reduce((all, { length }) => all + length, 0),
      total,
    );
    assert.deepEqual(Buffer.concat(frames.map((cut) => cut.subarray(headers))), shape.payload);
    for (const [index, cut] of frames.entries()) {
      const last = index === count - 1;
      assert.ok(last ? cut.length <= headers + shape.segmentBytes : cut.length === headers + shape.segmentBytes);
      assert.deepEqual(cut.subarray(0, network), bytes.subarray(0, network));
      if (shape.version === 4) {
        assert.equal(cut.readUInt16BE(network + 2), cut.length - network);
        assert.equal(cut.readUInt16BE(network + 4), (0xfffe + index) & 0xffff);
        assert.equal(sum(cut.subarray(network, transport)), 0xffff);
      } else {
        assert.equal(cut.readUInt16BE(network + 4), cut.length - network - 40);
      }
      assert.equal(sum(Buffer.concat([pseudoHeader(cut, frame, shape), cut.subarray(transport)])), 0xffff);
      if (shape.protocol === UDP) {
        assert.equal(cut.readUInt16BE(transport + 4), cut.length - transport);
      } else {
        assert.equal(cut.readUInt32BE(transport + 4), (0xffffff00 + index * shape.segmentBytes) % 2 ** 32);
        assert.equal(cut[transport + 13], 0x10 | (index === 0 ? 0x80 : 0) | (last ? 0x09 : 0));
      }
    }
  });
}

test('a checksum that the kernel left open is completed, whatever the length, and UDP never says that there is none', () => {
  const workshop = new Workshop();
  for (const length of [0, 1, 2, 777, 1400]) {
    const shape: Shape = { version: 4, protocol: TCP, payload: bytesOf(length), segmentBytes: 1448 };
    const frame = superFrame(shape);
    assert.equal(workshop.receive(frame.bytes, [1, 0, 0, frame.transport, 16]), true);
    const [cut] = workshop.cut(frame.bytes.length);
    assert.equal(sum(Buffer.concat([pseudoHeader(cut!, frame, shape), cut!.subarray(frame.transport)])), 0xffff);
  }
  // A payload that makes the sum of the first frame come out as none.
  const shape: Shape = { version: 4, protocol: UDP, payload: Buffer.alloc(200), segmentBytes: 100 };
  const first = superFrame({ ...shape, payload: Buffer.alloc(100) });
  const rest = sum(
    Buffer.concat([
      pseudoHeader(first.bytes, first, shape),
      first.bytes.subarray(first.transport, first.transport + 6),
      Buffer.alloc(2),
    ]),
  );
  shape.payload.writeUInt16BE(0xffff - rest, 0);
  const frame = superFrame(shape);
  workshop.receive(frame.bytes, headerOf(frame, shape));
  const [cut] = workshop.cut(frame.bytes.length);
  assert.equal(cut!.readUInt16BE(frame.transport + 6), 0xffff);
});

test('a super-frame whose headers are invalid is not admitted', () => {
  const workshop = new Workshop();
  const shape = { ...SHAPES['TCP over IPv4']!, payload: Buffer.alloc(2000) };
  const frame = superFrame(shape);
  const header = headerOf(frame, shape);
  const wrong: Record<string, number[]> = {
    'no checksum': [header[0]! & ~1, ...header.slice(1)],
    'no size of segments': header.with(2, 0),
    'more frames than any sender makes of it': header.with(2, 1),
    'a checksum behind the frame': header.with(3, 65_534),
    'a checksum at an odd place': header.with(3, frame.transport + 1),
    'another place of the checksum than the IP header says': header.with(3, frame.transport + 4),
    'another version of IP': header.with(0, 1 | (4 << 8)),
    'another protocol': header.with(0, 1 | (5 << 8)),
    'a type that nobody offered': header.with(0, 1 | (3 << 8)),
  };
  for (const [title, each] of Object.entries(wrong)) assert.equal(workshop.receive(frame.bytes, each), false, title);
  assert.equal(workshop.receive(frame.bytes.subarray(0, frame.headers), header), false, 'no payload');
  assert.equal(workshop.receive(Buffer.alloc(14), header), false, 'no packet');
  assert.equal(workshop.receive(frame.bytes, header), true);
});

test('whatever bytes and headers come, what is admitted is cut into frames that fit a slot', () => {
  const workshop = new Workshop();
  const shapes = Object.values(SHAPES);
  let admitted = 0;
  for (let round = 0; round < 2000; round++) {
    const shape = shapes[round % shapes.length]!;
    const frame = superFrame({ ...shape, payload: shape.payload.subarray(0, round) });
    const header = headerOf(frame, shape);
    // One or two bytes of the packet's headers, or one member of its virtio-net header, are anything.
    const random = (below: number): number => Math.floor(Math.random() * below);
    if (round % 3 === 0) header[random(5)] = random(0x10000);
    else
      for (let changes = 0; changes < round % 3; changes++) frame.bytes[12 + random(frame.headers - 12)] = random(256);
    if (!workshop.receive(frame.bytes, header)) continue;
    admitted++;
    for (const cut of workshop.cut(frame.bytes.length)) assert.ok(cut.length <= 65_535 + 100);
  }
  assert.ok(admitted > 100);
});

test('datagrams that a container sends as one super-frame arrive one by one behind a UDP cable', {
  skip: cannotMakeInterfaces || noPython,
}, async (t) => {
  const [near, far] = [await startFabric(t), await startFabric(t)];
  const [links, addresses] = [
    [uniqueName(), uniqueName()],
    ['10.97.0.1/24', '10.97.0.2/24'],
  ];
  const [from, to] = [await Namespace.create(t), await Namespace.create(t)];
  for (const [index, cable] of (await ends()).entries()) {
    const port = await [near, far][index]!.createPort({ kind: 'tap', interface: links[index]! });
    await port.connect(cable);
    await [from, to][index]!.adopt(links[index]!, addresses[index]!);
  }
  const receiver = spawn('ip', ['netns', 'exec', to.name, process.execPath, '-e', RECEIVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => receiver.kill('SIGKILL'));
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  const port = (await lines.next()).value as string;
  await from.run('python3', '-c', SENDER, '10.97.0.2', port, '1000');
  assert.equal((await lines.next()).value, [...new Array(9).fill('1000:true'), '500:true'].join(' '));
  receiver.kill('SIGKILL');
  await once(receiver, 'exit');
});

test('a run of frames reaches a peer on another host one by one, whether or not its path takes them in runs', {
  skip: cannotMakeInterfaces || noPython,
}, async (t) => {
  const fabric = await startFabric(t);
  const [from, peer] = [await Namespace.create(t), await Namespace.create(t)];
  const link = uniqueName();
  const port = await fabric.createPort({ kind: 'tap', interface: link });
  await from.adopt(link, '10.97.0.1/24');
  await from.ip('neighbour', 'add', '10.97.0.2', 'lladdr', '02:00:00:00:00:02', 'dev', link);
  const [outside, inside] = await cablePair(t);
  await peer.adopt(inside, '10.95.0.2/30');
  await ip('address', 'add', '10.95.0.1/30', 'dev', outside);
  const receiver = spawn('ip', ['netns', 'exec', peer.name, process.execPath, '-e', LENGTHS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => receiver.kill('SIGKILL'));
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  const remotePort = Number((await lines.next()).value);
  await port.connect({ kind: 'udp', localPort: await freePort(), remoteHost: '10.95.0.2', remotePort });
  // With Ethernet, IP and UDP headers twice, datagrams of 1,472 bytes are more than the path's MTU of 1,500.
  for (const size of [1472, 1000, 1472]) {
    await from.run('python3', '-c', SENDER, '10.97.0.2', '9', String(size));
    assert.equal((await lines.next()).value, [...new Array(9).fill(size + 42), size / 2 + 42].join(' '));
  }
  assert.equal((await port.statistics()).drops.tooLong + (await port.statistics()).drops.sendFailed, 0);
  receiver.kill('SIGKILL');
  await once(receiver, 'exit');
});

/** Prints its port; then the lengths of ten datagrams at a time that carry frames of IPv4. */
const LENGTHS = `
  const socket = require('node:dgram').createSocket('udp4');
  let heard = [];
  socket.on('message', (data) => {
    if (data.readUInt16BE(12) !== 0x0800) return;
    heard.push(data.length);
    if (heard.length < 10) return;
    console.log(heard.join(' '));
    heard = [];
  });
  socket.bind(0, () => console.log(socket.address().port));
`;

/** Prints its port; then, of ten datagrams, their lengths and whether they are what the sender says. */
const RECEIVER = `
  const socket = require('node:dgram').createSocket('udp4');
  const heard = [];
  socket.on('message', (data) => {
    const index = heard.length;
    heard.push(data.length + ':' + data.every((byte) => byte === index));
    if (heard.length === 10) console.log(heard.join(' '));
  });
  socket.bind(0, () => console.log(socket.address().port));
`;

/** Sends nine datagrams and a half with one call (UDP_SEGMENT of udp(7)); each is of one byte. */
const SENDER = `
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
size = int(sys.argv[3])
s.setsockopt(socket.IPPROTO_UDP, 103, size)
s.sendto(b''.join(bytes([n]) * size for n in range(10))[:size * 9 + size // 2], (sys.argv[1], int(sys.argv[2])))
`;
