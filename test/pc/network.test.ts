// The network of a PC: what others see of it, and what it makes of what they send.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress } from '../../src/pc/address.ts';
import { fold, sumOf } from '../../src/pc/checksum.ts';
import { dhcpBytes, MESSAGE, OPTION, parseDhcp } from '../../src/pc/dhcp-message.ts';
import { dnsAnswer, dnsQuery, RECORD } from '../../src/pc/dns.ts';
import { freeMacNumber, pcMac } from '../../src/pc/mac.ts';
import { FLAG, parseSegment, type Segment, segmentBytes } from '../../src/pc/tcp-segment.ts';
import { udpMessage } from '../../src/pc/udp.ts';
import { seededIntegers } from '../seeded.ts';
import { type TestPc, twoPcs, type Wire } from './wire.ts';

const PEER_MAC = Buffer.from('020000000099', 'hex');

test('addresses are read and written as RFC 5952 says', () => {
  const forms: [string, string][] = [
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:2:3:4:5:6:0:8', '1:2:3:4:5:6:0:8'],
    ['::ffff:10.1.2.3', '::ffff:a01:203'],
    ['10.1.2.3', '10.1.2.3'],
  ];
  for (const [text, written] of forms) assert.equal(formatAddress(parseAddress(text)!), written);
  for (const text of ['10.1.2', '1::2::3', 'fe80::1%eth0', '10.1.2.256', ''])
    assert.equal(parseAddress(text), undefined);
});

test('no two of sixteen million numbers have the same MAC address, and the first 256 those of VPCS', () => {
  assert.equal(pcMac(255).toString('hex'), '0050796668ff');
  assert.equal(pcMac(256).toString('hex'), '005079666900');
  assert.equal(pcMac(100_000).toString('hex'), '00507967eea0');
});

test('no two PCs have one number; 256 differ in the last byte, and the next share those that are used least', () => {
  const numbers: number[] = [];
  for (let count = 0; count < 600; count++) numbers.push(freeMacNumber(numbers));
  assert.deepEqual(
    numbers,
    Array.from({ length: 600 }, (_, number) => number),
  );
  assert.equal(freeMacNumber([0, 1, 3]), 2, 'of one that was deleted');
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  assert.equal(freeMacNumber([...all, ...all.filter((byte) => byte !== 9).map((byte) => byte + 256)]), 265);
});

test('pings of every size between nothing and the largest come back, in fragments where they must', () => {
  const { one, wire } = twoPcs();
  for (const size of [0, 1, 56, 1471, 1472, 1473, 3000, 65_000]) {
    assert.match(one.type(`ping 10.0.0.2 -c 1 -l ${size}`), new RegExp(`${size + 28} bytes from .*icmp_seq=1 ttl=64`));
  }
  assert.ok(wire.seen.every((frame) => frame.length >= 60 && frame.length <= 1514));
  assert.match(one.type('ping 10.0.0.2 -c 1 -l 1473 -D'), /Cannot send 1473 bytes/);
  assert.match(one.type('ping fe80::250:79ff:fe66:6801 -c 1 -l 5000'), /icmp6_seq=1 ttl=64/);
});

test('every IPv4 header and ICMP message that leaves carries its right checksum', () => {
  const { one, wire } = twoPcs();
  one.type('ping 10.0.0.2 -c 1 -l 100');
  one.type('ping 10.0.0.2 -c 1 -3');
  for (const frame of wire.seen.filter((seen) => seen.readUInt16BE(12) === 0x0800)) {
    const packet = frame.subarray(14, 14 + frame.readUInt16BE(16));
    assert.equal(fold(sumOf(packet.subarray(0, 20))), 0);
    if (packet[9] === 1) assert.equal(fold(sumOf(packet.subarray(20))), 0);
  }
});

test('a lost answer is a timeout, a silent neighbour is not reachable, and a missing gateway is named', () => {
  const { one, wire } = twoPcs();
  one.type('ping 10.0.0.2 -c 1');
  wire.passes = (frame) => frame.readUInt16BE(12) === 0x0806;
  assert.equal(one.type('ping 10.0.0.2 -c 2 -w 300'), '\n10.0.0.2 icmp_seq=1 timeout\n10.0.0.2 icmp_seq=2 timeout\n');
  assert.match(one.type('ping 10.0.0.2 -c 1 -3'), /Connect {3}7@10\.0\.0\.2 timeout/);
  assert.match(one.type('trace 10.0.0.2 1'), / 1 {5}\* {2}\* {2}\*/);
  wire.passes = () => false;
  assert.match(one.type('ping 10.0.0.9'), /host \(10\.0\.0\.9\) not reachable/);
  assert.match(one.type('ping 10.9.9.9'), /host \(10\.0\.0\.254\) not reachable/);
  wire.passes = () => true;
  one.type('ip 10.0.0.1/24');
  assert.match(one.type('ping 10.9.9.9'), /No gateway found/);
});

/** A peer on the wire that is reached as the gateway 10.0.0.254 and answers IPv4 packets by `answer`. */
function addRouter(wire: Wire, answer: (packet: Buffer) => Buffer | undefined): void {
  wire.peer = (frame) => {
    const type = frame.readUInt16BE(12);
    if (type === 0x0806 && frame.subarray(38, 42).equals(Buffer.from([10, 0, 0, 254])) && frame[21] === 1) {
      const mac = frame.subarray(6, 12);
      const arp = Buffer.concat([
        Buffer.from('0001080006040002', 'hex'),
        PEER_MAC,
        frame.subarray(38, 42),
        mac,
        frame.subarray(28, 32),
      ]);
      wire.frames.push({ frame: Buffer.concat([mac, PEER_MAC, Buffer.from([8, 6]), arp]), from: undefined });
    } else if (type === 0x0800) {
      const packet = answer(frame.subarray(14));
      if (packet === undefined) return;
      const mac = frame.subarray(6, 12);
      wire.frames.push({ frame: Buffer.concat([mac, PEER_MAC, Buffer.from([8, 0]), packet]), from: undefined });
    }
  };
}

function ipv4(source: Buffer, destination: Buffer, protocol: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + payload.length, 2);
  header[8] = 64;
  header[9] = protocol;
  source.copy(header, 12);
  destination.copy(header, 16);
  header.writeUInt16BE(fold(sumOf(header)), 10);
  return Buffer.concat([header, payload]);
}

/** An ICMP error of a router about a packet. */
function icmpError(type: number, code: number, about: Buffer): Buffer {
  const message = Buffer.concat([Buffer.from([type, code, 0, 0, 0, 0, 0, 0]), about.subarray(0, 28)]);
  message.writeUInt16BE(fold(sumOf(message)), 2);
  return ipv4(Buffer.from([10, 0, 0, 254]), about.subarray(12, 16), 1, message);
}

test('the routers on the way, and what they say of packets, are shown', () => {
  const { one, wire } = twoPcs();
  addRouter(wire, (packet) => (packet[8]! < 2 ? icmpError(11, 0, packet) : icmpError(3, 3, packet)));
  assert.match(
    one.type('trace 10.9.9.9'),
    /^trace to 10\.9\.9\.9, 8 hops max, press Ctrl\+C to stop\n 1 {3}10\.0\.0\.254 {3}\d\.\d+ ms {2}\d\.\d+ ms {2}\d\.\d+ ms\n 2 {3}\*10\.0\.0\.254 {3}\d\.\d+ ms \(ICMP type:3, code:3, Destination port unreachable\)\n$/,
  );
  addRouter(wire, (packet) => icmpError(3, 1, packet));
  assert.match(
    one.type('ping 10.9.9.9 -c 1'),
    /^\n\*10\.0\.0\.254 icmp_seq=1 ttl=64 time=\d\.\d+ ms \(ICMP type:3, code:1, Destination host unreachable\)\n$/,
  );
  addRouter(wire, (packet) => icmpError(11, 0, packet));
  assert.match(
    one.type('ping 10.9.9.9 -c 1 -T 1 -2'),
    /^\n\*10\.0\.0\.254 udp_seq=1 .*\(ICMP type:11, code:0, TTL expired in transit\)\n$/,
  );
});

test('DHCP gives an address, keeps it up before it ends, and gives it back', () => {
  const { wire } = twoPcs();
  const pc: TestPc = wire.add().start();
  const server = Buffer.from([10, 0, 0, 254]);
  const address = Buffer.from([10, 0, 0, 50]);
  const heard: number[] = [];
  addRouter(wire, (packet) => {
    const message = packet[9] === 17 ? parseDhcp(packet.subarray(28)) : undefined;
    if (message?.operation !== 1) return undefined;
    const type = message.options.get(OPTION.type)![0]!;
    heard.push(type);
    if (type === MESSAGE.release) return undefined;
    const options = new Map<number, Buffer>([
      [OPTION.type, Buffer.from([type === MESSAGE.discover ? MESSAGE.offer : MESSAGE.ack])],
      [OPTION.server, server],
      [OPTION.mask, Buffer.from([255, 255, 255, 0])],
      [OPTION.router, server],
      [OPTION.dns, server],
      [OPTION.domain, Buffer.from('lab.test')],
      [OPTION.lease, Buffer.from([0, 0, 0, 100])],
    ]);
    const data = dhcpBytes({ ...message, operation: 2, options }, false);
    address.copy(data, 16);
    return ipv4(server, address, 17, udpMessage(server, address, { from: 67, to: 68, data }));
  });
  assert.equal(pc.type('ip dhcp'), 'DORA IP 10.0.0.50/24 GW 10.0.0.254\n');
  const shown = pc.type('show ip');
  assert.match(
    shown,
    /IP\/MASK {5}: 10\.0\.0\.50\/24\nGATEWAY {5}: 10\.0\.0\.254\nDNS {9}: 10\.0\.0\.254 {2}\nDHCP SERVER : 10\.0\.0\.254\n/,
  );
  assert.match(shown, /DHCP LEASE {2}: \d+, 100\/50\/87\nDOMAIN NAME : lab\.test/);
  wire.run(60_000);
  assert.deepEqual(heard, [MESSAGE.discover, MESSAGE.request, MESSAGE.request], 'renewed after half the time');
  assert.match(pc.type('ip dhcp -d -r'), /Opcode: 1 \(REQUEST\)[\s\S]*Message Type = Ack[\s\S]* IP 10\.0\.0\.50\/24/);
  pc.type('save');
  assert.equal(pc.files.get('startup.vpc'), 'ip dhcp\n');
  pc.type('dhcp -x');
  wire.run(1);
  assert.equal(heard.at(-1), MESSAGE.release);
  assert.match(pc.type('show ip'), /IP\/MASK {5}: 0\.0\.0\.0\/0/);
  wire.peer = () => {};
  assert.equal(pc.type('ip dhcp'), "DDD\nCan't find dhcp server\n");
});

/** A DHCP server behind the wire, which may be away, and refuses requests for any but its address. */
class DhcpServer {
  readonly id = Buffer.from([10, 0, 0, 254]);
  address = Buffer.from([10, 0, 0, 51]);
  isHere = true;
  /** What it was asked: the type of each message, and whether all servers were asked. */
  heard: [type: number, all: boolean][] = [];

  constructor(wire: Wire) {
    addRouter(wire, (packet) => this.#answer(packet));
  }

  #answer(packet: Buffer): Buffer | undefined {
    const message = packet[9] === 17 ? parseDhcp(packet.subarray(28)) : undefined;
    if (message?.operation !== 1) return undefined;
    const asked = message.options.get(OPTION.type)![0]!;
    this.heard.push([asked, packet[16] === 255]);
    if (!this.isHere) return undefined;
    const wanted = message.options.get(OPTION.requested) ?? packet.subarray(12, 16);
    const agrees = wanted.equals(this.address) ? MESSAGE.ack : MESSAGE.nak;
    const options = new Map([
      [OPTION.type, Buffer.from([asked === MESSAGE.discover ? MESSAGE.offer : agrees])],
      [OPTION.server, this.id],
      [OPTION.lease, Buffer.from([0, 0, 2, 0x58])],
    ]);
    const data = dhcpBytes({ ...message, operation: 2, options }, false);
    this.address.copy(data, 16);
    const all = Buffer.alloc(4, 255);
    return ipv4(this.id, all, 17, udpMessage(this.id, all, { from: 67, to: 68, data }));
  }
}

test('a lease that is not renewed is asked of all servers, ends, and is asked for again', () => {
  const { wire } = twoPcs();
  const pc = wire.add().start();
  const server = new DhcpServer(wire);
  assert.match(pc.type('ip dhcp'), /DORA IP 10\.0\.0\.51\/24/);
  server.isHere = false;
  server.heard = [];
  wire.run(520_000);
  assert.ok(server.heard.length >= 2 && server.heard.every(([type, all]) => type === MESSAGE.request && !all));
  server.heard = [];
  wire.run(70_000);
  assert.ok(server.heard.length >= 1 && server.heard.every(([type, all]) => type === MESSAGE.request && all));
  assert.match(pc.type('show ip'), /IP\/MASK {5}: 10\.0\.0\.51\/24/);
  wire.run(20_000);
  assert.match(pc.type('show ip'), /IP\/MASK {5}: 0\.0\.0\.0\/0/);
  pc.type('save');
  assert.equal(pc.files.get('startup.vpc'), 'ip dhcp\n');
  server.isHere = true;
  server.address = Buffer.from([10, 0, 0, 52]);
  wire.run(60_000);
  assert.match(pc.type('show ip'), /IP\/MASK {5}: 10\.0\.0\.52\/24/);
  pc.type('clear ip');
  server.heard = [];
  wire.run(1_000_000);
  assert.deepEqual(server.heard, []);
});

test('all servers may prolong a lease whose own one is away', () => {
  const { wire } = twoPcs();
  const pc = wire.add().start();
  const server = new DhcpServer(wire);
  pc.type('ip dhcp');
  server.isHere = false;
  wire.run(520_000);
  server.isHere = true;
  wire.run(70_000);
  server.heard = [];
  wire.run(200_000);
  assert.deepEqual(server.heard, []);
  assert.match(pc.type('show ip'), /IP\/MASK {5}: 10\.0\.0\.51\/24/);
});

test('a lease that its server refuses is given up at once for another one', () => {
  const { wire } = twoPcs();
  const pc = wire.add().start();
  const server = new DhcpServer(wire);
  pc.type('ip dhcp');
  server.address = Buffer.from([10, 0, 0, 52]);
  server.heard = [];
  wire.run(301_000);
  assert.match(pc.type('show ip'), /IP\/MASK {5}: 10\.0\.0\.52\/24/);
  assert.deepEqual(
    server.heard.map(([type]) => type),
    [MESSAGE.request, MESSAGE.discover, MESSAGE.request],
  );
  server.address = Buffer.from([10, 0, 0, 53]);
  assert.equal(pc.type('ip dhcp -r'), 'RDORA IP 10.0.0.53/24\n');
  server.address = Buffer.from([10, 0, 0, 54]);
  wire.run(301_000);
  assert.match(pc.type('show ip'), /IP\/MASK {5}: 10\.0\.0\.54\/24/);
});

test('names are looked up with and without the domain, and answers to other questions are no answers', () => {
  const { one, wire } = twoPcs();
  const asked: string[] = [];
  addRouter(wire, (packet) => {
    if (packet[9] !== 17 || packet.readUInt16BE(22) !== 53) return undefined;
    const query = packet.subarray(28, packet.readUInt16BE(2));
    const name = query.toString('latin1', 13, query.length - 5).replace(/[^a-z]/g, '.');
    asked.push(name);
    const answer = Buffer.from(query);
    answer.writeUInt16BE(name === 'two.lab.test' ? 0x8180 : 0x8183, 2);
    answer.writeUInt16BE(name === 'two.lab.test' ? 1 : 0, 6);
    const record = Buffer.from('c00c00010001000000050004' + '0a000002', 'hex');
    const data = name === 'two.lab.test' ? Buffer.concat([answer, record]) : answer;
    const [server, pc] = [packet.subarray(16, 20), packet.subarray(12, 16)];
    return ipv4(server, pc, 17, udpMessage(server, pc, { from: 53, to: packet.readUInt16BE(20), data }));
  });
  one.type('ip dns 10.0.0.254');
  one.type('ip domain lab.test');
  assert.match(one.type('ping two -c 1'), /^two resolved to 10\.0\.0\.2\n\n84 bytes from 10\.0\.0\.2/);
  assert.match(one.type('ping nosuch.test -c 1'), /Cannot resolve nosuch\.test/);
  assert.deepEqual(new Set(asked), new Set(['two.lab.test', 'nosuch.test']));
  const query = dnsQuery(7, 'a.test', RECORD.A)!;
  assert.equal(dnsAnswer(query, 7, RECORD.A), 'other', 'a question');
  assert.equal(dnsQuery(7, `${'x'.repeat(64)}.test`, RECORD.A), undefined);
});

/** A router that advertises networks, each as `<flags> <valid lifetime> <network>`; without networks it is silent. */
function advertise(wire: Wire, ...networks: string[]): void {
  const router = parseAddress('fe80::99')!;
  wire.peer = (frame) => {
    if (frame.readUInt16BE(12) !== 0x86dd || frame[54] !== 133 || networks.length === 0) return;
    const prefixes = networks.map((network) => {
      const [flags, lifetime, address] = network.split(' ');
      return Buffer.concat([
        Buffer.from(`030440${flags}${lifetime!.padStart(8, '0').repeat(2)}00000000`, 'hex'),
        parseAddress(address!)!,
      ]);
    });
    const message = Buffer.concat([Buffer.from('86000000400007080000000000000000', 'hex'), ...prefixes]);
    const all = parseAddress('ff02::1')!;
    const pseudo = Buffer.concat([router, all, Buffer.from([0, 0, 0, message.length, 0, 0, 0, 58])]);
    message.writeUInt16BE(fold(sumOf(message, sumOf(pseudo))), 2);
    const header = Buffer.concat([Buffer.from([0x60, 0, 0, 0, 0, message.length, 58, 255]), router, all]);
    const ethernet = Buffer.concat([Buffer.from('333300000001', 'hex'), PEER_MAC, Buffer.from([0x86, 0xdd])]);
    wire.frames.push({ frame: Buffer.concat([ethernet, header, message]), from: undefined });
  };
}

test('an address by router advertisement, and packets beyond the link by that router', () => {
  const { one, wire } = twoPcs();
  one.type('ip 2001:db8:1::1/64 2001:db8:1::ff');
  // Networks without the A flag, and those that are over, give no address (RFC 4862, 5.5.3).
  advertise(wire, '80 e10 2001:db8:3::', 'c0 0 2001:db8:4::');
  assert.match(one.type('ip auto'), /^No router answers/);
  one.type('save');
  assert.match(one.files.get('startup.vpc')!, /^ip 2001:db8:1::1\/64 2001:db8:1::ff$/m);
  advertise(wire, '80 e10 2001:db8:3::', 'c0 0 2001:db8:4::', 'c0 e10 2001:db8:5::', 'c0 e10 2001:db8:6::');
  assert.equal(
    one.type('ip auto'),
    'GLOBAL SCOPE      : 2001:db8:5:0:250:79ff:fe66:6800/64\nROUTER LINK-LAYER : 02:00:00:00:00:99\n',
  );
  one.type('save');
  assert.match(one.files.get('startup.vpc')!, /^ip auto$/m);
  wire.peer = () => {};
  assert.match(one.type('ping 2001:db8:9::1 -c 1'), /2001:db8:9::1 icmp6_seq=1 timeout/);
  const ping = wire.seen.findLast((frame) => frame.readUInt16BE(12) === 0x86dd && frame[54] === 128)!;
  assert.ok(ping.subarray(0, 6).equals(PEER_MAC), 'the manual gateway is forgotten');
});

test('frames of any length and content are survived, and the PC answers afterwards', () => {
  const { one, two, wire } = twoPcs();
  one.type('ping 10.0.0.2 -c 1 -l 3000');
  one.type('ping fe80::250:79ff:fe66:6801 -c 1 -l 3000');
  one.type('ping 10.0.0.2 -c 1 -3');
  one.type('set dump mac raw detail all');
  const real = wire.seen.slice();
  const random = seededIntegers(1);
  for (let round = 0; round < 20_000; round++) {
    const frame = Buffer.from(real[random(real.length)]!);
    const changes = random(6);
    for (let change = 0; change < changes; change++) frame[12 + random(frame.length - 12)] = random(256);
    if (frame.readUInt16BE(12) === 0x0800 && round % 2 === 0) {
      // With a right checksum the change gets farther.
      frame.writeUInt16BE(0, 24);
      frame.writeUInt16BE(fold(sumOf(frame.subarray(14, 34))), 24);
    }
    const cut = frame.subarray(0, random(4) === 0 ? random(frame.length + 1) : frame.length);
    for (const pc of [one, two]) pc.pc.receive(cut);
    wire.frames.length = 0;
  }
  for (const length of [0, 1, 13, 14, 15, 60, 1515, 9000, 65_535]) {
    for (const fill of [0, 0xff]) for (const pc of [one, two]) pc.pc.receive(Buffer.alloc(length, fill));
  }
  one.type('set dump off');
  one.type('ip 10.0.0.1/24');
  two.type('ip 10.0.0.2/24');
  assert.match(one.type('ping 10.0.0.2 -c 1'), /icmp_seq=1 ttl=64/);
});

test('a TCP connection stays while its peer sends, and ends after a minute of silence', () => {
  const { two, wire } = twoPcs();
  addRouter(wire, () => undefined);
  two.type('ping 10.0.0.254 -c 1');
  const [source, destination] = [Buffer.from([10, 0, 0, 254]), Buffer.from([10, 0, 0, 2])];
  let [sequence, acknowledgement] = [1000, 0];
  const hears = (flags: number, data = Buffer.alloc(0)): Segment | undefined => {
    const from = wire.seen.length;
    const segment = { from: 40_000, to: 9000, sequence, acknowledgement, flags, window: 65_535, data };
    const packet = ipv4(source, destination, 6, segmentBytes(source, destination, segment));
    two.pc.receive(Buffer.concat([pcMac(1), PEER_MAC, Buffer.from([8, 0]), packet]));
    sequence += data.length + (flags & FLAG.syn ? 1 : 0);
    const answer = wire.seen.slice(from).at(-1)?.subarray(14);
    if (answer === undefined) return undefined;
    const payload = answer.subarray(20, answer.readUInt16BE(2));
    return parseSegment({ source: destination, destination: source, payload } as never);
  };
  acknowledgement = hears(FLAG.syn)!.sequence + 1;
  hears(FLAG.ack);
  for (let seconds = 0; seconds < 180; seconds += 20) {
    wire.run(20_000);
    const { flags, acknowledgement: taken } = hears(FLAG.ack | FLAG.psh, Buffer.from('data'))!;
    assert.deepEqual([flags, taken], [FLAG.ack, sequence], `after ${seconds} s`);
  }
  wire.run(61_000);
  assert.equal(hears(FLAG.ack | FLAG.psh, Buffer.from('data'))!.flags & FLAG.rst, FLAG.rst);
});

test('two PCs that echo each other’s echoes come to rest', () => {
  const { one, two, wire } = twoPcs();
  one.type('ping 10.0.0.2 -c 1');
  const [source, destination] = [Buffer.from([10, 0, 0, 1]), Buffer.from([10, 0, 0, 2])];
  const packet = ipv4(
    source,
    destination,
    17,
    udpMessage(source, destination, { from: 80, to: 90, data: Buffer.alloc(10) }),
  );
  const before = wire.seen.length;
  two.pc.receive(Buffer.concat([pcMac(1), pcMac(0), Buffer.from([8, 0]), packet]));
  wire.run(900);
  assert.ok(wire.seen.length - before <= 4100, `${wire.seen.length - before} frames in a second`);
});
