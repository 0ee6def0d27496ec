// Display filters, the ring, and captures that come in pieces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENCODINGS } from '../../src/fabric/capture-format.ts';
import { decode } from '../../src/web/capture/decode/decode.ts';
import { completionAt, filterOf } from '../../src/web/capture/filter.ts';
import { FrameReader } from '../../src/web/capture/frames.ts';
import { Ring } from '../../src/web/capture/ring.ts';
import { CORPUS, pcapOf } from './corpus.ts';
import { frameOf } from './tcp-stream.ts';

const names = (text: string): string[] => {
  const filter = filterOf(text);
  return CORPUS.filter(({ bytes, link }) => filter?.(decode(bytes, link)) ?? true).map(({ name }) => name);
};

test('a filter shows what it says', () => {
  assert.equal(names('').length, CORPUS.length);
  assert.deepEqual(names('arp'), ['ARP request', 'ARP reply', 'ARP announcement', 'VLAN with ARP']);
  assert.deepEqual(names('arp and vlan'), ['VLAN with ARP']);
  assert.deepEqual(names('arp and not vlan.id == 10 and arp.opcode == 2'), ['ARP reply']);
  assert.deepEqual(names('tcp.port == 179'), ['BGP open', 'BGP update', 'BGP keepalives']);
  assert.deepEqual(names('ip.addr == 10.0.0.53'), ['DNS query', 'DNS response']);
  assert.deepEqual(names('ip.dst == 10.0.0.48/28'), ['DNS query']);
  assert.deepEqual(names('icmp.type == 8 && ip.ttl >= 64 && !(vlan || ppp || chdlc || fr)'), ['ICMP echo']);
  assert.deepEqual(names('udp.dstport > 5000 and udp.srcport < 6000'), ['DNS response', 'multicast DNS']);
  assert.deepEqual(names('"www.example" or "10.0.0.9"').slice(0, 3), ['DHCP ack', 'DNS query', 'DNS response']);
  assert.deepEqual(names('lldp.tlv.system.name contains r1'), ['LLDP']);
  assert.deepEqual(names('fr.dlci == 102'), ['Frame Relay with IPv4', 'Frame Relay of the IETF with IPv4']);
  for (const [text, found] of [
    ['stp.hello == 2 and stp.version == 2', 'rapid spanning tree'],
    ['stp.root.hw == 00:50:79:66:68:00 and stp.max_age >= 20 and stp.version == 0', 'spanning tree'],
    ['vrrp.version == 2', 'VRRP 2'],
    ['ip.version == 4 and ip.hdr_len > 20', 'IPv4 with options'],
    ['tcp.hdr_len == 20 and tcp.flags == 2', 'TCP SYN'],
    ['bgp.nlri_prefix == 192.0.2.0/24', 'BGP update'],
    ['dns.qry.name == PC1.local', 'multicast DNS'],
    ['ip.frag_offset == 185', 'second fragment'],
  ] as const)
    assert.deepEqual(names(text), [found], text);
  assert.ok(names('ip.addr != 10.0.0.1').every((name) => !['UDP', 'TCP SYN'].includes(name)));
  assert.equal(names('eth.addr == 00:50:79:66:68:00').includes('ARP request'), true);
  assert.deepEqual(names('neighbors'), []);
});

test('what is wrong with a filter is said', () => {
  for (const [text, message] of [
    ['arp and', /A word or a name is missing at the end/],
    ['(arp', /"\)" is missing/],
    ['ip.ttl > many', /"many" is no number/],
    ['ip.addr ==', /A value behind "==" is missing/],
    ['arp icmp', /Join "icmp"/],
    ['arp constructor', /Join "constructor"/],
    ['arp "unfinished', /closing " is missing/],
    ['icmp.type = 8', /Use == instead of =\.$/],
    ['icmp.type =>8', /Use >= instead of =>\.$/],
    ['arp & icmp', /Use and instead of &\.$/],
    ['dns.qry.name matches "a"', /Use contains instead of matches\.$/],
    ['host 10.0.0.1', /Use ip\.addr == instead of host\.$/],
    ['ip.adr == 10.0.0.1', /There is no field ip\.adr; did you mean "ip\.addr"\?$/],
    ['tcp == 80', /tcp is a protocol\. Compare one of its fields, such as tcp\.port\.$/],
    ['lcp == 1', /lcp is a protocol\. Use lcp alone\.$/],
    ['ip.addr == 10.0.0.0/33', /0 to 32 bits/],
    ['ipv6.src == fe80::/10', /use contains/],
    ['x '.repeat(300), /more than 200/],
  ] as const) {
    assert.throws(() => filterOf(text), message, text);
  }
});

test('names and operators are completed at the caret', () => {
  const offers = (text: string, isAsked = false, caret = text.length): readonly string[] =>
    completionAt(text, caret, isAsked).offers;
  assert.deepEqual(offers('ip.ad'), ['ip.addr']);
  assert.deepEqual(offers('tcp').slice(0, 3), ['tcp.port', 'tcp.ack_raw', 'tcp.checksum']);
  assert.deepEqual(offers('arp and not por').slice(0, 2), ['tcp.port', 'udp.port'], 'a part of a name');
  assert.deepEqual(offers('(os')[0], 'ospf');
  assert.deepEqual(offers('ip.ttl '), ['==', '!=', '>', '<', '>=', '<=', 'contains']);
  assert.deepEqual(offers('lldp.tlv.system.name con'), ['contains']);
  assert.deepEqual(completionAt('ip.t == 1', 4, false), { from: 0, to: 4, offers: ['ip.ttl'] });
  for (const text of [
    '',
    'ip.ttl == ',
    'ip.ttl ==6',
    'ip.ttl eq 6',
    'name contains ar',
    '"ar',
    'arp ',
    'xyz',
    'vlan.id',
  ])
    assert.deepEqual(offers(text), [], text);
  assert.ok(offers('', true).includes('bgp'));
  // Whatever is offered is understood: a protocol alone, a field with its operators.
  for (const name of offers('', true)) {
    const operators = offers(`${name} `);
    for (const text of operators.length > 0 ? operators.map((operator) => `${name} ${operator} 1`) : [name])
      assert.ok(filterOf(text), text);
  }
});

test('frames are the same however the capture is cut, in every format', () => {
  const samples = CORPUS.filter(({ link }) => link === 1);
  for (const format of ['pcap', 'nsecpcap', 'pcapng'] as const) {
    const encoding = ENCODINGS[format];
    const parts: Uint8Array[] = [encoding.header({ linkType: 'DLT_EN10MB', interface: { name: 'PC1 e0' } })];
    for (const [index, { bytes }] of samples.entries()) {
      const record = Buffer.alloc(encoding.recordBytes(bytes.length));
      encoding.write(
        record,
        0,
        { seconds: 1_700_000_000 + index, nanoseconds: 250_000 },
        Buffer.from(bytes),
        bytes.length,
        bytes.length + index,
        index % 2 === 0,
      );
      parts.push(record);
    }
    parts.push(encoding.trailer({ frames: samples.length, bytes: 0, drops: 0, filtered: 0 }));
    const file = Buffer.concat(parts);
    for (const step of [1, 7, 1000, file.length]) {
      const reader = new FrameReader();
      const frames = [];
      for (let at = 0; at < file.length; at += step) frames.push(...reader.push(file.subarray(at, at + step)));
      assert.equal(frames.length, samples.length, `${format} in steps of ${step}`);
      for (const [index, frame] of frames.entries()) {
        assert.deepEqual(
          [frame.time, frame.length, frame.link, Buffer.from(frame.bytes).toString('hex')],
          [
            index * 1e9 + 250_000,
            samples[index]!.bytes.length + index,
            1,
            Buffer.from(samples[index]!.bytes).toString('hex'),
          ],
        );
      }
    }
  }
});

test('what is no capture, and a damaged one, is said and not read', () => {
  assert.throws(() => new FrameReader().push(Buffer.from('hello, this is text')), /no capture/);
  const file = pcapOf(CORPUS.slice(0, 2), 1);
  file.writeUInt32LE(0xffffffff, 24 + 8);
  assert.throws(() => new FrameReader().push(file), /damaged/);
});

test('the ring keeps the last frames that fit, by their numbers', () => {
  const ring = new Ring(100_000);
  const frame = (number: number) => frameOf(new Uint8Array(840), { number });
  for (let number = 1; number <= 1000; number++) ring.push([frame(number)]);
  assert.deepEqual([ring.size, ring.first, ring.last], [100, 901, 1000]);
  assert.deepEqual(
    [ring.get(900), ring.get(901)?.number, ring.get(1000)?.number, ring.get(1001)],
    [undefined, 901, 1000, undefined],
  );
  const seen: number[] = [];
  const slow = ({ number }: { number: number }): void => {
    seen.push(number);
    for (const end = performance.now() + 20; performance.now() < end; );
  };
  let looked = ring.look(0, slow);
  assert.ok(looked <= 902, 'frames that take long give others a turn');
  while (looked < ring.last) looked = ring.look(looked, ({ number }) => seen.push(number));
  assert.deepEqual(
    seen,
    Array.from({ length: 100 }, (_, at) => 901 + at),
  );
});
