import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ruleset } from '../../../src/compute/nat-network/rules.ts';
import { chooseSubnet, gatewayOf, rangeOf, routedSubnets } from '../../../src/compute/nat-network/subnet.ts';
import { formatAddress, formatSubnet, overlap, parseAddress, parseSubnet } from '../../../src/host/network/ipv4.ts';

const HEADER = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT';
const route = (destination: string, mask: string, flags = '0001'): string =>
  `eth0\t${destination}\t00000000\t${flags}\t0\t0\t0\t${mask}\t0\t0\t0`;

test('the routes of a host show which networks it knows; the default route does not count, nor do its halves', () => {
  const table = [
    HEADER,
    route('00000000', '00000000', '0003'),
    route('00000000', '00000080', '0003'),
    route('00000080', '00000080', '0003'),
    route('007AA8C0', '00FFFFFF'),
    route('0000000A', '000000FF'),
  ];
  assert.deepEqual(routedSubnets(`${table.join('\n')}\n`).map(formatSubnet), ['192.168.122.0/24', '10.0.0.0/8']);
});

test('the network is the first one that collides with no route, or the one that is asked for', () => {
  const taken = ['192.168.122.0/24', '192.168.123.128/25', '192.168.124.7/32'].map((text) => parseSubnet(text)!);
  assert.equal(formatSubnet(chooseSubnet('', taken)), '192.168.125.0/24');
  assert.equal(formatSubnet(chooseSubnet('10.9.0.0/16', taken)), '10.9.0.0/16');
  assert.throws(() => chooseSubnet('192.168.0.0/16', taken), { code: 'conflict', message: /192\.168\.122\.0\/24/ });
  assert.throws(() => chooseSubnet('', [parseSubnet('192.168.0.0/16')!]), { code: 'conflict', message: /nat_subnet/ });
});

test('gateway and nodes lie within the network, and neither at its ends', () => {
  const subnet = parseSubnet('192.0.2.8/29')!;
  assert.deepEqual([gatewayOf(subnet), ...rangeOf(subnet)].map(formatAddress), [
    '192.0.2.9',
    '192.0.2.10',
    '192.0.2.14',
  ]);
});

test('what is no address and no network is distinguished from what is', () => {
  for (const text of ['', '1.2.3', '1.2.3.256', '1.2.3.4.5', 'a.b.c.d', '01234.1.1.1'])
    assert.equal(parseAddress(text), undefined);
  for (const text of ['1.2.3.4', '192.0.2.1/24', '192.0.2.0/33', '192.0.2.0/', '/24'])
    assert.equal(parseSubnet(text), undefined);
  assert.equal(formatAddress(parseAddress('255.254.1.0')!), '255.254.1.0');
  assert.equal(overlap(parseSubnet('0.0.0.0/0')!, parseSubnet('192.0.2.0/24')!), true);
  assert.equal(overlap(parseSubnet('192.0.2.0/25')!, parseSubnet('192.0.2.128/25')!), false);
});

test('the rules replace what a former life left, and name the interface of this network alone', () => {
  const rules = ruleset({
    ...{ table: 'labwire_nat3', name: 'labwire-nat3', subnet: parseSubnet('192.168.122.0/24')! },
    ...{ gateway: parseAddress('192.168.122.1')!, dns: 40_000 },
  });
  assert.match(rules, /^add table ip labwire_nat3\ndelete table ip labwire_nat3\ntable ip labwire_nat3 \{/);
  assert.deepEqual(new Set(rules.match(/"[^"]+"/g)), new Set(['"labwire-nat3"']));
});
