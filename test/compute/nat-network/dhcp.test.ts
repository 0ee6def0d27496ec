import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DhcpRequest,
  OPTION,
  parseRequest,
  replyBytes,
  TYPE,
} from '../../../src/compute/nat-network/dhcp-message.ts';
import { DhcpServer } from '../../../src/compute/nat-network/dhcp-server.ts';
import { arpProbe, arpSender, clientMessage, serverFrame } from '../../../src/compute/nat-network/frames.ts';
import { Leases } from '../../../src/compute/nat-network/leases.ts';
import { formatAddress, parseAddress, parseSubnet } from '../../../src/host/network/ipv4.ts';

const SUBNET = parseSubnet('192.168.122.0/24')!;
const GATEWAY = parseAddress('192.168.122.1')!;

function request(type: keyof typeof TYPE, mac: string, more: Partial<DhcpRequest> = {}): DhcpRequest {
  return {
    ...{ type: TYPE[type], transaction: 7, broadcast: false, clientAddress: 0, relay: 0, mac },
    ...{ requested: undefined, server: undefined, ...more },
  };
}

/** Discovers, and requests what was offered; gives the address. */
async function lease(server: DhcpServer, mac: string): Promise<number> {
  const offer = await server.answer(request('discover', mac));
  assert.equal(offer?.type, TYPE.offer);
  const taken = await server.answer(request('request', mac, { requested: offer.address, server: GATEWAY }));
  assert.deepEqual([taken?.type, taken?.address], [TYPE.ack, offer.address]);
  return offer.address;
}

test('a node gets an address of the network with all that it needs, and the same one every time', async () => {
  const server = new DhcpServer(SUBNET);
  const first = await lease(server, '020000000001');
  assert.match(formatAddress(first), /^192\.168\.122\.(?!0$|1$|255$)\d+$/);
  const again = await server.answer(request('discover', '020000000001'));
  assert.deepEqual([again?.type, again?.address], [TYPE.offer, first]);
  const options = new Map(again?.options);
  assert.deepEqual(
    [OPTION.server, OPTION.router, OPTION.dns, OPTION.mask, OPTION.broadcast].map((code) =>
      formatAddress(options.get(code)!),
    ),
    ['192.168.122.1', '192.168.122.1', '192.168.122.1', '255.255.255.0', '192.168.122.255'],
  );
  assert.equal(options.get(OPTION.lease), 3600);
  assert.equal(
    await lease(new DhcpServer(SUBNET), '020000000001'),
    first,
    'another life of the server gives the same one',
  );
});

test('the lease of a node is known until it is released, and an offer alone is not one for another node', async () => {
  const server = new DhcpServer(SUBNET);
  assert.equal(server.leased('020000000001'), undefined);
  const address = await lease(server, '020000000001');
  assert.equal(server.leased('020000000001'), `${formatAddress(address)}/24`);
  assert.equal(server.leased('020000000002'), undefined);
  await server.answer(request('release', '020000000001', { clientAddress: address }));
  assert.equal(server.leased('020000000001'), undefined);
});

test('no two nodes get one address, though all ask at once; when there is none left, there is no answer', async () => {
  const server = new DhcpServer(parseSubnet('192.0.2.0/28')!);
  const macs = Array.from({ length: 20 }, (_, index) => `0200000000${(10 + index).toString(16).padStart(2, '0')}`);
  const offers = await Promise.all(macs.map((mac) => server.answer(request('discover', mac))));
  const given = offers.flatMap((offer) => (offer ? [offer.address] : []));
  assert.deepEqual([given.length, new Set(given).size], [13, 13]);
});

test('an address that another host has already, by its answer to ARP, is not offered', async () => {
  const server = new DhcpServer(SUBNET);
  const asked: number[] = [];
  server.probe = (address) => {
    asked.push(address);
    if (asked.length === 1) server.taken(address);
  };
  const got = await lease(server, '020000000001');
  assert.deepEqual([asked.length, asked[1]], [2, got]);
  assert.notEqual(asked[0], got);
});

test('a node keeps its address when it asks for it by itself, as after a restart of the server; one of another network is refused', async () => {
  const server = new DhcpServer(SUBNET);
  const own = parseAddress('192.168.122.77')!;
  const renewed = await server.answer(request('request', '020000000001', { clientAddress: own }));
  assert.deepEqual([renewed?.type, renewed?.address], [TYPE.ack, own]);
  const other = await server.answer(request('request', '020000000002', { requested: own }));
  assert.equal(other?.type, TYPE.nak, "it is the first one's");
  const foreign = await server.answer(request('request', '020000000003', { requested: parseAddress('10.0.0.7')! }));
  assert.equal(foreign?.type, TYPE.nak);
  const elsewhere = request('request', '020000000004', { requested: own, server: parseAddress('192.168.122.9')! });
  assert.equal(await server.answer(elsewhere), undefined, "it has taken another server's offer");
});

test('a declined address is left alone; a released one is kept for its node', async () => {
  const server = new DhcpServer(SUBNET);
  const first = await lease(server, '020000000001');
  await server.answer(request('decline', '020000000001', { requested: first }));
  assert.notEqual(await lease(server, '020000000001'), first);
  const second = await lease(server, '020000000002');
  await server.answer(request('release', '020000000002', { clientAddress: second }));
  assert.equal(await lease(server, '020000000002'), second);
});

test('leases that have ended are given away only when nothing else is left', () => {
  const leases = new Leases(10, 12);
  leases.grant('a', 10, 100);
  leases.grant('b', 11, 200);
  assert.equal(leases.choose('c', 1000), 12);
  leases.grant('c', 12, 5000);
  assert.equal(leases.choose('d', 1000), 10, 'the one that ended first');
  leases.grant('d', 10, 5000);
  assert.equal(leases.of('a'), undefined);
});

test('what is no question to a DHCP server is no message: broken, cut, of others', () => {
  const message = replyBytes(request('discover', '020000000001'), { type: TYPE.offer, address: 1, options: [] });
  message[0] = 1;
  assert.equal(parseRequest(message)?.mac, '020000000001');
  for (let length = 0; length < message.length; length += 7) parseRequest(message.subarray(0, length));
  for (const [at, value] of [
    [0, 2],
    [1, 6],
    [2, 16],
    [236, 0],
    [240, 55],
    [241, 250],
  ] as const) {
    const broken = Buffer.from(message);
    broken[at] = value;
    assert.equal(parseRequest(broken), undefined, `byte ${at}`);
  }
  const frame = serverFrame({ mac: '026c77000001', client: undefined, from: GATEWAY, to: 0, message });
  assert.equal(clientMessage(frame), undefined, "a server's own");
  frame.writeUInt16BE(67, 36);
  assert.deepEqual(clientMessage(frame), message);
  for (let length = 0; length < frame.length; length++)
    assert.equal(clientMessage(frame.subarray(0, length)), undefined);
});

test('a probe asks for an address without giving one; an answer to it names its owner', () => {
  const probe = arpProbe('026c77000001', GATEWAY);
  assert.deepEqual([probe.length, arpSender(probe)], [60, undefined]);
  const answer = Buffer.from(probe);
  answer.writeUInt16BE(2, 20);
  answer.writeUInt32BE(GATEWAY, 28);
  assert.equal(arpSender(answer), GATEWAY);
});
