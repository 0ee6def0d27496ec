import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepts } from '../../src/fabric/plane/packet-filter.ts';
import { compileFilter } from '../../src/host/network/libpcap.ts';
import { loadKoffi } from '../../src/host/system-calls/koffi.ts';
import { noLibpcap } from '../host/missing.ts';
import { seededIntegers } from '../seeded.ts';
import { emulatorPort, peerWithCable, settled, startFabric } from './peers.ts';

const skip = noLibpcap;

/** An Ethernet frame with an IPv4 packet: no payload but the first bytes of the next protocol's header. */
function ip(protocol: number, header: number[], { source = [10, 0, 0, 1], target = [10, 0, 0, 2] } = {}): Buffer {
  const ethernet = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x50, 0x79, 0x66, 0x68, 0, 0x08, 0x00];
  const packet = [0x45, 0, 0, 20 + header.length, 0, 1, 0, 0, 64, protocol, 0, 0, ...source, ...target];
  return Buffer.from([...ethernet, ...packet, ...header]);
}

const ping = ip(1, [8, 0, 0, 0, 0, 1, 0, 1]);
const pong = ip(1, [0, 0, 0, 0, 0, 1, 0, 1]);
const web = ip(6, [0x30, 0x39, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 2, 0, 0]);
const dns = ip(17, [0x30, 0x39, 0, 53, 0, 8, 0, 0], { source: [192, 168, 1, 1] });
const arp = Buffer.from(
  'ffffffffffff0050796668000806000108000604000100507966680000000000000000000000000000'.repeat(1),
  'hex',
);
const frames: Record<string, Buffer> = { ping, pong, web, dns, arp };

for (const [expression, taken] of [
  ['icmp', ['ping', 'pong']],
  ['icmp[icmptype] == 8', ['ping']],
  ['tcp port 80', ['web']],
  ['tcp[tcpflags] & tcp-syn != 0', ['web']],
  ['udp dst portrange 50-60 and net 192.168.0.0/16', ['dns']],
  ['arp or src host 10.0.0.1', ['ping', 'pong', 'web', 'arp']],
  ['not ip', ['arp']],
  ['ether broadcast', ['ping', 'pong', 'web', 'dns', 'arp']],
  ['len > 45', ['web']],
  ['ip[2:2] - 20 = 8 and ip[8] / 2 = 32 and ip[8] % 7 = 1', ['ping', 'pong', 'dns']],
  ['vlan', []],
] as const) {
  test(`"${expression}" takes ${taken.join(' and ') || 'nothing'}`, { skip }, async () => {
    const program = await compileFilter(expression);
    const found = Object.keys(frames).filter((name) => accepts(program, frames[name]!, frames[name]!.length));
    assert.deepEqual(found, taken);
  });
}

/** What libpcap's own machine says of a program. */
function reference(): (program: Uint32Array, frame: Buffer, length: number) => boolean {
  const koffi = loadKoffi();
  const run = koffi.load('libpcap.so.0.8').func('bpf_filter', 'uint32_t', ['void *', 'void *', 'uint32_t', 'uint32_t']);
  return (program, frame, length) => run(program, frame, length, length) !== 0;
}

test('programs of every instruction take the frames that libpcap itself takes', { skip }, () => {
  const expected = reference();
  const pick = seededIntegers(7);
  const loads = [0x20, 0x28, 0x30, 0x40, 0x48, 0x50, 0x80, 0x81, 0xb1, 0x00, 0x01, 0x60, 0x61, 0x02, 0x03, 0x07, 0x87];
  const sums = [0x04, 0x14, 0x24, 0x34, 0x44, 0x54, 0x64, 0x74, 0x94, 0xa4]
    .flatMap((code) => [code, code | 8])
    .concat(0x84);
  const jumps = [0x15, 0x25, 0x35, 0x45].flatMap((code) => [code, code | 8]);
  const frame = Buffer.alloc(128);
  let taken = 0;
  for (let run = 0; run < 20_000; run++) {
    for (let index = 0; index < frame.length; index++) frame[index] = pick(4) === 0 ? pick(256) : pick(3);
    const count = 4 + pick(30);
    const words: number[] = [];
    // The machine's memory is undefined before it is written.
    for (let at = 0; at < 16; at++) words.push(0x02, at);
    for (let left = count; left > 0; left--) {
      const kind = pick(10);
      if (kind < 5) {
        const code = loads[pick(loads.length)]!;
        const memory = [0x60, 0x61, 0x02, 0x03].includes(code);
        words.push(code, memory ? pick(16) : code < 2 ? pick(2 ** 32) : pick(pick(6) === 0 ? 200 : 40));
      } else if (kind < 8) {
        const code = sums[pick(sums.length)]!;
        // No program of libpcap divides by a constant zero or shifts by more than a word, so that it does not look for that.
        const shift = code === 0x64 || code === 0x74;
        words.push(code, 1 + pick(shift ? 31 : pick(3) === 0 ? 2 ** 32 - 1 : 40));
      } else {
        const code = jumps[pick(jumps.length)]!;
        words.push((code | (pick(left) << 16) | (pick(left) << 24)) >>> 0, pick(3) === 0 ? pick(2 ** 32) : pick(4));
      }
    }
    words.push(pick(2) === 0 ? 0x16 : 0x06, pick(2));
    const program = Uint32Array.from(words);
    const length = pick(frame.length + 1);
    const wanted = expected(program, frame, length);
    assert.equal(accepts(program, frame, length), wanted, `run ${run}: ${JSON.stringify(words)}`);
    if (wanted) taken += 1;
  }
  assert.ok(taken > 1000, `${taken} frames taken`);
});

test('expressions take the frames that libpcap itself takes', { skip }, async () => {
  const expected = reference();
  const pick = seededIntegers(11);
  const terms = [
    'tcp port 80',
    'udp',
    'arp',
    'icmp',
    'host 10.0.0.1',
    'net 192.168.0.0/16',
    'len < 45',
    'ip[8] > 10',
    'vlan',
    'ip6',
  ];
  for (let run = 0; run < 300; run++) {
    const count = 1 + pick(5);
    const parts = Array.from({ length: count }, () => `${pick(3) === 0 ? 'not ' : ''}${terms[pick(terms.length)]}`);
    const program = await compileFilter(parts.join(pick(2) === 0 ? ' or ' : ' and ')).catch(() => undefined);
    if (program === undefined) continue;
    for (const frame of Object.values(frames)) {
      for (const length of [frame.length, 30, 14, 13, 0]) {
        assert.equal(accepts(program, frame, length), expected(program, frame, length), parts.join());
      }
    }
  }
});

test('frames that a packet filter takes are lost in both directions, the others pass, and the count is reported', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  const packetFilters = [await compileFilter('icmp[icmptype] == 8'), await compileFilter('udp port 53')];
  await port.connect(cable, { packetFilters });
  await emulator.send(localPort, ping, pong, dns, web, arp);
  assert.deepEqual(await peer.take(3), [pong, web, arp]);
  await peer.send(cable.localPort, dns, arp, ping);
  assert.deepEqual(await emulator.take(1), [arp]);
  const { drops } = await settled(port, ({ drops: { packetFilters: count } }) => count === 4);
  assert.equal(drops.frequencyDrop + drops.packetLoss, 0);
  await port.impair({});
  await emulator.send(localPort, ping);
  assert.deepEqual(await peer.take(1), [ping]);
});

test('a packet filter works together with other impairments', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable, {
    packetFilters: [await compileFilter('icmp')],
    frequencyDrop: 2,
    delay: { latency: 5, jitter: 0 },
  });
  await emulator.send(localPort, ping, arp, ping, web, dns, ping);
  // Of those that the filter leaves, every second is lost.
  assert.deepEqual(await peer.take(2), [arp, dns]);
});
