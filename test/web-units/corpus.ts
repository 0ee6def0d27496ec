// Frames of every protocol that the page decodes, made here.

/** A frame, and the link type of pcap that it is of. */
export interface Sample {
  name: string;
  link: number;
  bytes: Uint8Array;
}

const hex = (text: string): Buffer<ArrayBuffer> => Buffer.from(text.replaceAll(/[\s:]/g, ''), 'hex');
export const u16 = (...values: number[]): Buffer<ArrayBuffer> => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
};
const u32 = (...values: number[]): Buffer<ArrayBuffer> => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
};
const all = (...parts: (Buffer | string)[]): Buffer<ArrayBuffer> =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? hex(part) : part)));
const text = (value: string, length = value.length): Buffer<ArrayBuffer> => {
  const bytes = Buffer.alloc(length);
  bytes.write(value, 'latin1');
  return bytes;
};
const ip = (address: string): Buffer<ArrayBuffer> => Buffer.from(address.split('.').map(Number));

function checksum(...parts: Uint8Array[]): number {
  const bytes = Buffer.concat(parts);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at]! << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

function withChecksum(bytes: Buffer<ArrayBuffer>, at: number, ...pseudo: Buffer[]): Buffer<ArrayBuffer> {
  bytes.writeUInt16BE(0, at);
  bytes.writeUInt16BE(checksum(...pseudo, bytes), at);
  return bytes;
}

export const PC1 = '00:50:79:66:68:00';
export const PC2 = '00:50:79:66:68:01';
const SIX = ['fe80 0000 0000 0000 0250 79ff fe66 6800', 'ff02 0000 0000 0000 0000 0001 ff66 6801'] as const;

export const eth = (target: string, source: string, type: number, payload: Buffer): Buffer<ArrayBuffer> => {
  const frame = all(target, source, u16(type), payload);
  return Buffer.concat([frame, Buffer.alloc(Math.max(0, 60 - frame.length))]);
};
const llc = (target: string, source: string, payload: Buffer): Buffer<ArrayBuffer> =>
  eth(target, source, payload.length, payload);
const ip4 = (from: string, to: string, protocol: number, payload: Buffer, ttl = 64): Buffer<ArrayBuffer> =>
  Buffer.concat([
    withChecksum(
      all('4500', u16(20 + payload.length), '0001 4000', Buffer.from([ttl, protocol]), '0000', ip(from), ip(to)),
      10,
    ),
    payload,
  ]);
const ip6 = (next: number, payload: Buffer, hops = 255): Buffer<ArrayBuffer> =>
  all('6000 0000', u16(payload.length), Buffer.from([next, hops]), ...SIX, payload);
const pseudo6 = (next: number, length: number): Buffer<ArrayBuffer> => all(...SIX, u32(length, next));
const pseudo4 = (from: string, to: string, protocol: number, length: number): Buffer<ArrayBuffer> =>
  all(ip(from), ip(to), u16(protocol, length));
export const udp = (
  from: string,
  to: string,
  ports: [number, number],
  payload: Buffer,
  ttl = 64,
): Buffer<ArrayBuffer> => {
  const datagram = all(u16(...ports, 8 + payload.length, 0), payload);
  return ip4(from, to, 17, withChecksum(datagram, 6, pseudo4(from, to, 17, datagram.length)), ttl);
};
export const tcp = (ports: [number, number], flags: number, payload = Buffer.alloc(0)): Buffer<ArrayBuffer> => {
  const segment = all(u16(...ports), u32(1000, 2000), Buffer.from([0x50, flags]), u16(4128, 0, 0), payload);
  return ip4('10.0.0.1', '10.0.0.2', 6, withChecksum(segment, 16, pseudo4('10.0.0.1', '10.0.0.2', 6, segment.length)));
};
const icmp = (head: string, data: Buffer): Buffer<ArrayBuffer> => withChecksum(all(head, data), 2);
const icmp6 = (head: string, data: Buffer): Buffer<ArrayBuffer> => {
  const message = all(head, data);
  return ip6(58, withChecksum(message, 2, pseudo6(58, message.length)));
};
export const ipFrame = (packet: Buffer): Buffer<ArrayBuffer> => eth(PC2, PC1, 0x800, packet);

const arp = (operation: number, sender: string, target: string): Buffer<ArrayBuffer> =>
  all('0001 0800 06 04', u16(operation), PC1, ip(sender), operation === 1 ? '000000000000' : PC2, ip(target));

const dhcp = (operation: number, type: number, yours: string): Buffer<ArrayBuffer> =>
  all(
    Buffer.from([operation, 1, 6, 0]),
    'deadbeef 0000 8000',
    ip('0.0.0.0'),
    ip(yours),
    ip('0.0.0.0'),
    ip('0.0.0.0'),
    PC1,
    Buffer.alloc(10 + 64 + 128),
    '63825363',
    Buffer.from([53, 1, type, 50, 4, 10, 0, 0, 9, 12, 3]),
    text('PC1'),
    '33 04 00000e10 ff',
  );
export const name = (value: string): Buffer<ArrayBuffer> =>
  Buffer.concat([
    ...value.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), text(label)])),
    Buffer.alloc(1),
  ]);
const query = all('1234 0100 0001 0000 0000 0000', name('www.example.com'), u16(1, 1));
const response = all(
  '1234 8180 0001 0002 0000 0000',
  name('www.example.com'),
  u16(1, 1),
  'c00c 0005 0001 0000 0e10 0004 01 61 c010',
  'c00c 0001 0001 0000 0e10 0004 c0000201',
);

const stpBody = all('00', '8000', PC1, u32(4), '8001', PC2, '8002', u16(256, 20 * 256, 2 * 256, 15 * 256));
const hsrp2 = (version: number, address: Buffer): Buffer<ArrayBuffer> =>
  udp(
    '10.0.0.1',
    '224.0.0.102',
    [1985, 1985],
    all('01 28 02 00 06', Buffer.from([version]), u16(1), PC1, u32(120, 3000, 10_000), address),
    1,
  );
const rip2 = (...entries: Buffer[]): Buffer<ArrayBuffer> =>
  udp('10.0.0.1', '224.0.0.9', [520, 520], all('0202 0000', ...entries), 1);
const ripRoute = all('0002 0000', ip('10.1.0.0'), ip('255.255.0.0'), ip('0.0.0.0'), u32(1));
const pvst = all('aaaa03 00000c 010b 0000 00 00', stpBody, '00 0000 0002 000a');
/** Behind a tag of VLAN 10, with its length. */
const tagged = (payload: Buffer): Buffer<ArrayBuffer> => all(u16(10, payload.length), payload);
const ospf = (type: number, body: Buffer): Buffer<ArrayBuffer> => {
  const head = all(
    Buffer.from([2, type]),
    u16(24 + body.length),
    ip('1.1.1.1'),
    ip('0.0.0.0'),
    u16(0, 0),
    Buffer.alloc(8),
  );
  return withChecksum(all(head, body), 12);
};
const ospfHello = (options: number, ...neighbours: string[]): Buffer<ArrayBuffer> =>
  ospf(
    1,
    all(
      ip('255.255.255.0'),
      u16(10),
      Buffer.from([options, 1]),
      u32(40),
      ip('10.0.0.1'),
      ip('0.0.0.0'),
      ...neighbours.map(ip),
    ),
  );
const withDigest = (packet: Buffer<ArrayBuffer>, digest: string): Buffer<ArrayBuffer> => {
  packet.set(hex('0000 0002 0000 01 10 00000001'), 12);
  return all(packet, digest);
};
const ospfFrame = (packet: Buffer): Buffer<ArrayBuffer> =>
  eth('01:00:5e:00:00:05', PC1, 0x800, ip4('10.0.0.1', '224.0.0.5', 89, packet, 1));
const lsa = (): Buffer<ArrayBuffer> => {
  const bytes = all(
    '0001 2201',
    ip('1.1.1.1'),
    ip('1.1.1.1'),
    '80000001 0000',
    u16(36),
    '0000 0001',
    ip('10.0.0.0'),
    ip('255.255.255.0'),
    '0300 000a',
  );
  // Fletcher's, of all but the age.
  let [c0, c1] = [0, 0];
  for (const byte of bytes.subarray(2)) {
    c0 = (c0 + byte) % 255;
    c1 = (c1 + c0) % 255;
  }
  const x = ((((bytes.length - 2 - 14 - 1) * c0 - c1) % 255) + 255) % 255;
  bytes[16] = x;
  bytes[17] = (510 - c0 - x) % 255;
  return bytes;
};
const bgp = (type: number, body: Buffer): Buffer<ArrayBuffer> =>
  all('ff'.repeat(16), u16(19 + body.length), Buffer.from([type]), body);
const tlv = (type: number, value: Buffer): Buffer<ArrayBuffer> => all(u16((type << 9) | value.length), value);
const cdpValue = (type: number, value: Buffer): Buffer<ArrayBuffer> => all(u16(type, value.length + 4), value);
const vrrp = (version: number, priority: number): Buffer<ArrayBuffer> => {
  const body = all(
    Buffer.from([(version << 4) | 1, 7, priority, 1]),
    version === 2 ? '0001' : '0064',
    '0000',
    ip('10.0.0.254'),
    version === 2 ? '0000 0000 0000 0000' : '',
  );
  return ip4(
    '10.0.0.1',
    '224.0.0.18',
    112,
    withChecksum(body, 6, ...(version === 2 ? [] : [pseudo4('10.0.0.1', '224.0.0.18', 112, body.length)])),
    255,
  );
};
const eigrp = (operation: number, body: Buffer): Buffer<ArrayBuffer> =>
  ip4(
    '10.0.0.1',
    '224.0.0.10',
    88,
    withChecksum(all(Buffer.from([2, operation]), '0000', u32(0, 0, 0), u16(0, 100), body), 2),
    2,
  );

export const CORPUS: readonly Sample[] = [
  ['ARP request', 1, eth('ff:ff:ff:ff:ff:ff', PC1, 0x806, arp(1, '10.0.0.1', '10.0.0.2'))],
  ['ARP reply', 1, eth(PC2, PC1, 0x806, arp(2, '10.0.0.1', '10.0.0.2'))],
  ['ARP announcement', 1, eth('ff:ff:ff:ff:ff:ff', PC1, 0x806, arp(1, '10.0.0.1', '10.0.0.1'))],
  ['VLAN with ARP', 1, eth('ff:ff:ff:ff:ff:ff', PC1, 0x8100, all(u16(0x600a, 0x806), arp(1, '10.0.0.1', '10.0.0.2')))],
  [
    'two tags with ICMP',
    1,
    eth(
      PC2,
      PC1,
      0x88a8,
      all(
        u16(100, 0x8100, 10, 0x800),
        ip4('10.0.0.1', '10.0.0.2', 1, icmp('0800 0000 0001 0001', text('x'.repeat(56)))),
      ),
    ),
  ],
  ['ICMP echo', 1, ipFrame(ip4('10.0.0.1', '10.0.0.2', 1, icmp('0800 0000 1234 0001', text('abcdefgh'.repeat(7)))))],
  [
    'ICMP echo reply',
    1,
    ipFrame(ip4('10.0.0.2', '10.0.0.1', 1, icmp('0000 0000 1234 0001', text('abcdefgh'.repeat(7))))),
  ],
  ['UDP', 1, ipFrame(udp('10.0.0.1', '10.0.0.2', [40_000, 40_001], text('hello')))],
  ['IPv4 with options', 1, ipFrame(withOptions())],
  ['second fragment', 1, ipFrame(fragment())],
  ['IGMP', 1, eth('01:00:5e:00:00:01', PC1, 0x800, ip4('10.0.0.1', '224.0.0.1', 132, Buffer.alloc(0)))],
  [
    'ICMPv6 neighbour solicitation',
    1,
    eth('33:33:ff:66:68:01', PC1, 0x86dd, icmp6('8700 0000 00000000', all(SIX[0], '0101', PC1))),
  ],
  ['ICMPv6 neighbour advertisement', 1, eth(PC2, PC1, 0x86dd, icmp6('8800 0000 60000000', all(SIX[0], '0201', PC1)))],
  ['ICMPv6 echo', 1, eth(PC2, PC1, 0x86dd, icmp6('8000 0000 0001 0002', text('abcdefgh')))],
  [
    'ICMPv6 router advertisement',
    1,
    eth(
      '33:33:00:00:00:01',
      PC1,
      0x86dd,
      icmp6(
        '8600 0000 40 00 0708 00000000 00000000',
        all('0304 40c0 00000e10 00000e10 00000000 2001 0db8 0000 0000 0000 0000 0000 0000'),
      ),
    ),
  ],
  ['ICMPv6 behind hop-by-hop options', 1, eth('33:33:ff:66:68:01', PC1, 0x86dd, hopByHop())],
  ['TCP SYN', 1, ipFrame(tcp([40_000, 40_001], 2))],
  ['TCP data', 1, ipFrame(tcp([40_000, 40_001], 0x18, text('hello')))],
  [
    'DHCP discover',
    1,
    eth('ff:ff:ff:ff:ff:ff', PC1, 0x800, udp('0.0.0.0', '255.255.255.255', [68, 67], dhcp(1, 1, '0.0.0.0'))),
  ],
  ['DHCP ack', 1, ipFrame(udp('10.0.0.254', '10.0.0.9', [67, 68], dhcp(2, 5, '10.0.0.9')))],
  ['DNS query', 1, ipFrame(udp('10.0.0.1', '10.0.0.53', [40_000, 53], query))],
  ['DNS response', 1, ipFrame(udp('10.0.0.53', '10.0.0.1', [53, 40_000], response))],
  ['DNS over TCP', 1, ipFrame(tcp([40_000, 53], 0x18, all(u16(query.length), query)))],
  [
    'multicast DNS',
    1,
    ipFrame(
      udp(
        '10.0.0.1',
        '224.0.0.251',
        [5353, 5353],
        all('0000 0000 0001 0000 0000 0000', name('pc1.local'), u16(1, 1)),
        255,
      ),
    ),
  ],
  ['spanning tree', 1, llc('01:80:c2:00:00:00', PC1, all('424203 0000 00 00', stpBody))],
  [
    'rapid spanning tree',
    1,
    llc('01:80:c2:00:00:00', PC1, all('424203 0000 02 02', all('3c', stpBody.subarray(1)), '00')),
  ],
  ['topology change', 1, llc('01:80:c2:00:00:00', PC1, hex('424203 0000 00 80'))],
  [
    'LLDP',
    1,
    eth(
      '01:80:c2:00:00:0e',
      PC1,
      0x88cc,
      all(
        tlv(1, all('04', PC1)),
        tlv(2, all('05', text('Gi0/1'))),
        tlv(3, u16(120)),
        tlv(5, text('R1')),
        tlv(6, text('a router')),
        tlv(0, Buffer.alloc(0)),
      ),
    ),
  ],
  ['CDP', 1, llc('01:00:0c:cc:cc:cc', PC1, all('aaaa03 00000c 2000', cdp()))],
  ['OSPF hello', 1, ospfFrame(ospfHello(0x02, '2.2.2.2'))],
  ['OSPF update', 1, ospfFrame(ospf(4, all(u32(1), lsa())))],
  ['BGP open', 1, ipFrame(tcp([179, 40_000], 0x18, bgp(1, all('04', u16(65_001, 180), ip('1.1.1.1'), '00'))))],
  [
    'BGP update',
    1,
    ipFrame(
      tcp(
        [40_002, 179],
        0x18,
        bgp(2, all(u16(0, 18), '40010100', '400204 0201 fde9', '400304', ip('10.0.0.1'), '18 c00002')),
      ),
    ),
  ],
  ['BGP keepalives', 1, ipFrame(tcp([40_003, 179], 0x18, all(bgp(4, Buffer.alloc(0)), bgp(4, Buffer.alloc(0)))))],
  ['VRRP 2', 1, eth('01:00:5e:00:00:12', '00:00:5e:00:01:07', 0x800, vrrp(2, 100))],
  ['VRRP 3', 1, eth('01:00:5e:00:00:12', '00:00:5e:00:01:07', 0x800, vrrp(3, 100))],
  [
    'HSRP',
    1,
    eth(
      '01:00:5e:00:00:02',
      '00:00:0c:07:ac:01',
      0x800,
      udp('10.0.0.1', '224.0.0.2', [1985, 1985], all('00 00 10 03 0a 78 01 00', text('cisco', 8), ip('10.0.0.254')), 1),
    ),
  ],
  [
    'HSRP 2',
    1,
    eth('01:00:5e:00:00:66', '00:00:0c:9f:f0:01', 0x800, hsrp2(4, all(ip('10.0.0.254'), Buffer.alloc(12)))),
  ],
  [
    'RIP 1',
    1,
    ipFrame(
      udp('10.0.0.1', '255.255.255.255', [520, 520], all('0201 0000 0002 0000', ip('10.1.0.0'), u32(0, 0, 1)), 1),
    ),
  ],
  ['RIP 2', 1, ipFrame(rip2(ripRoute))],
  ['RIPng', 1, eth('33:33:00:00:00:09', PC1, 0x86dd, ripng())],
  ['EIGRP hello', 1, eth('01:00:5e:00:00:0a', PC1, 0x800, eigrp(5, hex('0001 000c 01 00 01 00 00 00 000f')))],
  ['EIGRP update', 1, eth('01:00:5e:00:00:0a', PC1, 0x800, eigrp(1, Buffer.alloc(0)))],
  ['an unknown type', 1, eth(PC2, PC1, 0x88b5, text('something'))],
  ['PPP LCP', 50, hex('ff03 c021 01 01 0008 0506 1234')],
  [
    'PPP with IPv4',
    50,
    all('ff03 0021', ip4('10.0.0.1', '10.0.0.2', 1, icmp('0800 0000 0001 0001', text('abcdefgh')))),
  ],
  ['PPP IPCP', 50, hex('ff03 8021 02 01 000a 0306 0a000001')],
  [
    'HDLC with IPv4',
    104,
    all('0f00 0800', ip4('10.0.0.1', '10.0.0.2', 1, icmp('0800 0000 0001 0001', text('abcdefgh')))),
  ],
  ['HDLC keepalive', 104, all('8f00 8035', u32(2, 7, 6), 'ffff 0000')],
  ['HDLC with CDP', 104, all('8f00 2000', cdp())],
  [
    'Frame Relay with IPv4',
    107,
    all('1861 0800', ip4('10.0.0.1', '10.0.0.2', 1, icmp('0800 0000 0001 0001', text('abcdefgh')))),
  ],
  [
    'Frame Relay of the IETF with IPv4',
    107,
    all('1861 03cc', ip4('10.0.0.1', '10.0.0.2', 1, icmp('0800 0000 0001 0001', text('abcdefgh')))),
  ],
  ['Frame Relay management', 107, hex('0001 03 08 00 75 95 01 01 00 03 02 01 00')],
].map(([sample, link, bytes]) => ({ name: sample as string, link: link as number, bytes: bytes as Buffer }));

/** More messages of the same protocols, over Ethernet. */
export const VARIANTS: readonly Sample[] = Object.entries({
  'OSPF hello with local signaling': ospfFrame(all(ospfHello(0x12), 'fff6 0003 0001 0004 00000001')),
  'OSPF hello with a digest': ospfFrame(withDigest(ospfHello(0x02, '2.2.2.2'), '0102030405060708'.repeat(2))),
  'spanning tree per VLAN': llc('01:00:0c:cc:cc:cd', PC1, pvst),
  'tagged spanning tree per VLAN': eth('01:00:0c:cc:cc:cd', PC1, 0x8100, tagged(pvst)),
  'last fragment of IPv6': eth(
    PC2,
    PC1,
    0x86dd,
    all('6ab12345 0010 2c40', ...SIX, '1100 05a8 00000001', text('the end.')),
  ),
  'BGP withdrawal': ipFrame(tcp([179, 40_004], 0x18, bgp(2, all(u16(4), '18 c00002', u16(0))))),
  'HSRP 2 for IPv6': ipFrame(hsrp2(6, hex('fe80 0000 0000 0000 0005 73ff fea0 0001'))),
  'RIP 2 with a password': ipFrame(rip2(all('ffff 0002', text('secret', 16)), ripRoute)),
  'RIP 2 with a digest of 64 bytes': ipFrame(
    rip2(all('ffff 0003 002c 01 44', u32(1, 0, 0)), ripRoute, all('ffff 0001', Buffer.alloc(64, 0xab))),
  ),
  'BGP keepalives in number': ipFrame(
    tcp([40_005, 179], 0x18, all(...Array<Buffer>(60).fill(bgp(4, Buffer.alloc(0))), bgp(3, hex('0602')))),
  ),
  'BGP withdrawals in number': ipFrame(
    tcp([179, 40_006], 0x18, bgp(2, all(u16(4 * 300), ...Array<string>(300).fill('18 c00002'), u16(0)))),
  ),
  'tagged CDP': eth('01:00:0c:cc:cc:cc', PC1, 0x8100, tagged(all('aaaa03 00000c 2000', cdp()))),
}).map(([sample, bytes]) => ({ name: sample, link: 1, bytes }));

function withOptions(): Buffer<ArrayBuffer> {
  const packet = udp('10.0.0.1', '10.0.0.2', [40_000, 40_001], text('hello'));
  const long = Buffer.concat([packet.subarray(0, 20), hex('94040000'), packet.subarray(20)]);
  long[0] = 0x46;
  long.writeUInt16BE(long.length, 2);
  return Buffer.concat([withChecksum(long.subarray(0, 24), 10), long.subarray(24)]);
}

function fragment(): Buffer<ArrayBuffer> {
  const packet = ip4('10.0.0.1', '10.0.0.2', 17, text('the second half!'));
  packet.writeUInt16BE(185, 6);
  return Buffer.concat([withChecksum(packet.subarray(0, 20), 10), packet.subarray(20)]);
}

function hopByHop(): Buffer<ArrayBuffer> {
  const message = hex('8300 0000 0000 0000 ff02 0000 0000 0000 0000 0001 ff66 6801');
  const report = withChecksum(message, 2, pseudo6(58, message.length));
  return ip6(0, all('3a00 0502 0000 0100', report), 1);
}

function cdp(): Buffer<ArrayBuffer> {
  const values = all(
    cdpValue(1, text('R1')),
    cdpValue(3, text('Serial0/0')),
    cdpValue(6, text('lab router')),
    cdpValue(11, hex('01')),
  );
  return withChecksum(all('02b4 0000', values, values.length % 2 ? '' : ''), 2);
}

function ripng(): Buffer<ArrayBuffer> {
  const message = all('0201 0000', '2001 0db8 0000 0000 0000 0000 0000 0000', '0000 20 01');
  const datagram = all(u16(521, 521, 8 + message.length, 0), message);
  return ip6(17, withChecksum(datagram, 6, pseudo6(17, datagram.length)));
}

/** The frames of one link type as a file of pcap, a second apart. */
export function pcapOf(samples: readonly Sample[], link: number): Buffer<ArrayBuffer> {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(65_535, 16);
  header.writeUInt32LE(link, 20);
  const records = samples.map(({ bytes }, index) => {
    const record = Buffer.alloc(16);
    record.writeUInt32LE(1_700_000_000 + index);
    record.writeUInt32LE(bytes.length, 8);
    record.writeUInt32LE(bytes.length, 12);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, ...records]);
}
