// What the answers to pings say, in the words of each system.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pingLine, readAddress, readPing, readReason } from '../../src/client/checks/ping-answer.ts';

const IOS = `Type escape sequence to abort.
Sending 3, 100-byte ICMP Echos to 10.0.0.2, timeout is 2 seconds:
`;

const ANSWERS: readonly [what: string, said: string, answered: number, mean: number | undefined][] = [
  [
    'a router, whose first echo waits for ARP',
    `${IOS}.!!\nSuccess rate is 66 percent (2/3), round-trip min/avg/max = 4/6/8 ms\n`,
    2,
    6,
  ],
  ['a router without an answer', `${IOS}...\nSuccess rate is 0 percent (0/3)\n`, 0, undefined],
  ['a router that is told it cannot be', `${IOS}U.U\nSuccess rate is 0 percent (0/3)\n`, 0, undefined],
  [
    'a router that does not know the name',
    'Translating "R9"...domain server (255.255.255.255)\n% Unrecognized host or address, or protocol not running.\n',
    ...([0, undefined] as const),
  ],
  [
    'ping of Linux',
    `PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.500 ms
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.700 ms (DUP!)
64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=1.50 ms
--- 10.0.0.2 ping statistics ---
3 packets transmitted, 2 received, +1 duplicates, 33% packet loss, time 2003ms
`,
    ...([2, 1] as const),
  ],
  [
    'ping of Linux without a way',
    'PING 10.0.9.2 (10.0.9.2) 56(84) bytes of data.\nFrom 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n',
    ...([0, undefined] as const),
  ],
  [
    'ping of busybox',
    'PING 10.0.0.2 (10.0.0.2): 56 data bytes\n64 bytes from 10.0.0.2: seq=0 ttl=64 time=2.000 ms\n',
    ...([1, 2] as const),
  ],
  [
    'VPCS 0.5b2',
    '10.0.0.2 icmp_seq=1 ttl=64 time=0.6 ms\n10.0.0.2 icmp_seq=2 timeout\n10.0.0.2 icmp_seq=3 ttl=64 time=0.2 ms\n',
    ...([2, 0.4] as const),
  ],
  [
    'VPCS over IPv6',
    '2001::2 icmp6_seq=1 ttl=64 time=1.5 ms\n2001::2 icmp6_seq=2 ttl=64 time=0.5 ms\n',
    ...([2, 1] as const),
  ],
  [
    'VPCS whose gateway refuses',
    '*10.0.0.1 icmp_seq=1 ttl=255 time=4.1 ms (ICMP type:3, code:1, Destination host unreachable)\n' +
      '*10.0.0.1 icmp_seq=2 ttl=255 time=4.1 ms (ICMP type:11, code:0, TTL expired in transit)\n',
    ...([0, undefined] as const),
  ],
  [
    'Windows',
    'Reply from 10.0.0.2: bytes=32 time<1ms TTL=128\nReply from 10.0.0.2: bytes=32 time=3ms TTL=128\n' +
      'Reply from 10.0.0.1: Destination host unreachable.\n',
    ...([2, 2] as const),
  ],
  [
    'VPCS 0.8 and the built-in PC',
    '84 bytes from 10.0.0.2 icmp_seq=1 ttl=64 time=0.250 ms\n10.0.0.2 icmp_seq=2 timeout\n',
    1,
    0.25,
  ],
];

test('answers to pings are read in the words of each system', () => {
  for (const [what, said, answered, mean] of ANSWERS) assert.deepEqual(readPing(said, 3), { answered, mean }, what);
});

test('why a ping has no answer is read in the words of each system', () => {
  for (const reason of [
    'host (10.0.0.9) not reachable',
    'No gateway found',
    'Cannot resolve foo',
    'From 10.0.0.1 icmp_seq=1 Destination Host Unreachable',
    "ping: bad address 'foo'",
    'ping: foo: Name or service not known',
    '% Unrecognized host or address, or protocol not running.',
  ])
    assert.equal(readReason(`PING\n\n${reason}\nmore\n`), reason);
  assert.equal(readReason('10.0.0.2 icmp_seq=1 timeout\n'), undefined);
});

test('each system is asked in its own way, and answers with its address', () => {
  assert.equal(pingLine('dynamips', '10.0.0.2', 3), 'ping 10.0.0.2 repeat 3');
  assert.equal(pingLine('qemu', '10.0.0.2', 3), 'ping -c 3 -W 2 10.0.0.2');
  assert.equal(readAddress('    inet 127.0.0.1/8 scope host lo\n    inet 10.0.0.1/24 scope global eth0\n'), '10.0.0.1');
  assert.equal(readAddress('IP/MASK     : 0.0.0.0/0\n'), undefined);
});
