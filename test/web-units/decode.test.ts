// What the page says of frames: as tshark says it, and never an error, whatever the bytes are.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { decode } from '../../src/web/capture/decode/decode.ts';
import { filterOf } from '../../src/web/capture/filter.ts';
import { seeded } from '../seeded.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { CORPUS, eth, ipFrame, name, PC1, PC2, pcapOf, tcp, u16, udp, VARIANTS } from './corpus.ts';

const run = promisify(execFile);
const SAMPLES = [...CORPUS, ...VARIANTS];

test('protocol, source and target of each frame are those of tshark', async (t) => {
  if ((await findProgram('tshark')) === undefined) return t.skip('tshark is not installed');
  const directory = await scratchDirectory(t);
  for (const link of new Set(SAMPLES.map((sample) => sample.link))) {
    const samples = SAMPLES.filter((sample) => sample.link === link);
    const file = join(directory, `${link}.pcap`);
    await writeFile(file, pcapOf(samples, link));
    const columns = 'gui.column.format:"Protocol","%p","Source","%us","Target","%ud"';
    const { stdout } = await run('tshark', ['-n', '-T', 'tabs', '-o', columns, '-r', file]);
    const theirs = stdout
      .replace(/\n$/, '')
      .split('\n')
      .map((line) =>
        line
          .split('\t')
          .map((cell) => cell.trim())
          .filter((cell) => cell !== '→'),
      );
    const said = samples.map(({ name }, index) => [name, ...theirs[index]!]);
    const ours = samples.map(({ name, bytes }) => {
      const { protocol, source, target } = decode(bytes, link);
      return [name, protocol, source, target];
    });
    assert.deepEqual(ours, said);
  }
});

/** Bytes are shown without the colons between them. */
const isBytes = (value: string): boolean => /^([\da-f]{2}:)+[\da-f]{2}$/.test(value) && value.length !== 17;

test('filters compare the values that tshark compares', async (t) => {
  if ((await findProgram('tshark')) === undefined) return t.skip('tshark is not installed');
  const missed: string[] = [];
  const directory = await scratchDirectory(t);
  for (const link of new Set(SAMPLES.map((sample) => sample.link))) {
    const samples = SAMPLES.filter((sample) => sample.link === link);
    const file = join(directory, `${link}.pcap`);
    await writeFile(file, pcapOf(samples, link));
    const { stdout } = await run('tshark', ['-n', '-T', 'pdml', '-r', file], { maxBuffer: 1 << 26 });
    for (const [index, theirs] of stdout.split('<packet>').slice(1).entries()) {
      const { name, bytes } = samples[index]!;
      const packet = decode(bytes, link);
      const keys = new Set<string | undefined>(packet.layers.flatMap(({ fields }) => fields.map(({ key }) => key)));
      for (const [, key, value] of theirs.matchAll(/<field name="([^"]+)".* show="([^"]+)"/g))
        if (keys.has(key) && !isBytes(value!) && !filterOf(`${key} == "${value}"`)!(packet))
          missed.push(`${name}: ${key} == ${value}`);
    }
  }
  assert.deepEqual(missed, []);
});

test('what is in the frames is said, and fields lie where they were read', () => {
  const infos = new Map(SAMPLES.map(({ name, link, bytes }) => [name, decode(bytes, link)]));
  for (const [name, info] of [
    ['ARP request', 'who has 10.0.0.2? Tell 10.0.0.1'],
    ['ARP reply', '10.0.0.1 is at 00:50:79:66:68:00'],
    ['two tags with ICMP', 'echo request, id 0x0001, sequence 1'],
    ['second fragment', 'fragment of UDP at 1480'],
    ['TCP SYN', '40000 > 40001 [SYN] seq 1000 win 4128 len 0'],
    ['DHCP ack', 'ack 10.0.0.9, transaction 0xdeadbeef'],
    ['DNS response', 'response 0x1234 A www.example.com, CNAME a.example.com, A 192.0.2.1'],
    ['OSPF hello', 'hello of 1.1.1.1, area 0.0.0.0, designated 10.0.0.1, 1 neighbours'],
    ['OSPF hello with local signaling', 'hello of 1.1.1.1, area 0.0.0.0, designated 10.0.0.1, 0 neighbours'],
    ['OSPF hello with a digest', 'hello of 1.1.1.1, area 0.0.0.0, designated 10.0.0.1, 1 neighbours'],
    ['BGP open', 'open AS 65001, router 1.1.1.1'],
    ['BGP update', 'update 192.0.2.0/24'],
    ['BGP keepalives', 'keepalive, keepalive'],
    ['HSRP', 'hello, active, group 1, priority 120, 10.0.0.254'],
    ['HSRP 2', 'hello, active, group 1, priority 120, 10.0.0.254'],
    ['HSRP 2 for IPv6', 'hello, active, group 1, priority 120, fe80::5:73ff:fea0:1'],
    ['RIP 2 with a password', 'response, 1 routes'],
    ['RIP 2 with a digest of 64 bytes', 'response, 1 routes'],
    ['BGP keepalives in number', `${'keepalive, '.repeat(60)}notification error 6/2`],
    ['BGP withdrawals in number', 'update 300 withdrawn'],
    ['LLDP', 'chassis 00:50:79:66:68:00, port Gi0/1, system R1'],
    ['CDP', 'device R1, port Serial0/0'],
    ['EIGRP hello', 'hello, AS 100'],
    ['PPP LCP', 'configure request, id 1'],
    ['HDLC keepalive', 'keepalive 7, seen 6'],
    ['Frame Relay management', 'status enquiry, full status'],
  ] as const) {
    assert.equal(infos.get(name)?.info, info, name);
  }
  for (const { name, link, bytes } of SAMPLES) {
    const packet = decode(bytes, link);
    assert.doesNotMatch(packet.info, /cut off/, name);
    for (const { from, to, fields } of packet.layers) {
      assert.ok(from >= 0 && from <= to && to <= bytes.length, name);
      for (const field of fields)
        assert.ok(field.from >= from && field.from <= field.to && field.to <= bytes.length, `${name}: ${field.label}`);
    }
  }
});

test('no frame makes a decoder throw or go on for ever: cut off anywhere, changed anywhere, or nonsense', () => {
  const LINKS = [0, 1, 9, 50, 104, 107];
  for (const { link, bytes } of SAMPLES)
    for (let end = 0; end <= bytes.length; end++) decode(bytes.subarray(0, end), link);
  const next = seeded(2257);
  const pick = (count: number): number => Math.floor(next() * count);
  const began = process.cpuUsage().user;
  for (let round = 0; round < 40_000; round++) {
    const sample = SAMPLES[pick(SAMPLES.length)]!;
    const bytes = Uint8Array.from(sample.bytes);
    for (let change = pick(6); change >= 0; change--) bytes[pick(bytes.length)] = next() < 0.3 ? 255 : pick(256);
    decode(bytes, sample.link);
  }
  for (let round = 0; round < 10_000; round++) {
    const bytes = Uint8Array.from({ length: pick(300) }, () => pick(256));
    decode(bytes, LINKS[pick(LINKS.length)]!);
  }
  // Tags in tags, tunnels in tunnels, and a name that refers to itself.
  const tags = new Uint8Array(65_000);
  for (let at = 12; at + 4 < tags.length; at += 4) tags.set([0x81, 0, 0, 1], at);
  assert.match(decode(tags, 1).info, /cut off/);
  const tunnels = Buffer.concat(
    Array.from({ length: 3000 }, () => Buffer.from('450000000001000040040000010101010202020200'.slice(0, 40), 'hex')),
  );
  decode(Buffer.concat([Buffer.from('0050796668010050796668000800', 'hex'), tunnels]), 1);
  // A frame of many fields costs no more than a few milliseconds.
  assert.ok((process.cpuUsage().user - began) / 1e6 < 60, 'decoding takes far too long');
});

test('a frame that was cut short says how much data was sent', () => {
  const data = Buffer.alloc(1400, 1);
  for (const [packet, said] of [
    [udp('10.0.0.1', '10.0.0.2', [1000, 2000], data), '1000 > 2000 len 1400'],
    [tcp([1000, 2000], 0x18, data), '1000 > 2000 [PSH, ACK] seq 1000 ack 2000 win 4128 len 1400'],
  ] as const) {
    const whole = ipFrame(packet);
    assert.equal(decode(whole.subarray(0, 64), 1, whole.length).info, said);
  }
  const cut = (type: number) => decode(eth(PC2, PC1, type, data).subarray(0, 64), 1, 1414);
  assert.equal(cut(0x88b5).info, 'type 0x88b5, 1400 bytes');
  // What fills a short frame is not data.
  const short = ipFrame(tcp([1000, 2000], 0x18, Buffer.from('abc')));
  assert.deepEqual(
    [57, 55].map((kept) => decode(short.subarray(0, kept), 1, short.length).segment?.cut),
    [0, 2],
  );
});

test('names of DNS end where RFC 1035 ends them', () => {
  const said = (...octets: Uint8Array[]): string => {
    const questions = octets.map((each) => Buffer.concat([each, u16(1, 1)]));
    const message = Buffer.concat([u16(1, 0, questions.length, 0, 0, 0), ...questions]);
    return decode(ipFrame(udp('10.0.0.1', '10.0.0.53', [40_000, 53], message)), 1).info;
  };
  const [long, longer] = [61, 62].map((last) => [63, 63, 63, last].map((count) => 'a'.repeat(count)).join('.'));
  assert.equal(said(name(long!)), `query 0x0001 A ${long}`);
  const cut = 'query 0x0001 (cut off)';
  assert.equal(said(name(longer!)), cut, 'more than 255 octets');
  assert.equal(said(Buffer.concat([u16(0x4061, 0x6161)])), cut, 'a reserved type of label');
  assert.equal(said(Buffer.from([191, ...Array(191).fill(97), 0xc0, 12])), cut, 'a label of 191 octets');
  assert.equal(said(u16(0xc00c)), cut, 'a pointer to itself');
  assert.equal(said(Buffer.from([1, 97, 0xc0, 12])), cut, 'a pointer to its own beginning');
  assert.equal(said(u16(0xc012), name('b')), cut, 'a pointer forwards');
  assert.equal(said(name('b'), Buffer.from([1, 97, 0xc0, 12]), u16(0xc013)).slice(13), 'A b, A a.b, A a.b');
  const info = said(...Array.from({ length: 6 }, () => name(long!)));
  assert.ok(info.length < 1100 && info.endsWith('…'), 'the list shows the beginning of a long text');
});
