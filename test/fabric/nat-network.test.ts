import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Fabric, MemoryDevice } from '../../src/fabric/fabric.ts';
import { peerWithCable, startFabric, until } from './peers.ts';

const SERVICE = '026c77000001';
const GATEWAY = '02000000ffff';
const BROADCAST = 'ffffffffffff';
const [A, B] = ['020000000001', '020000000002'];

function frame(to: string, from: string, rest = '0800', bytes = 60): Buffer {
  return Buffer.concat([Buffer.from(to + from + rest, 'hex')], bytes);
}

/** From port 68 to port 67, over UDP and IPv4. */
const dhcp = (to: string, from: string): Buffer =>
  frame(to, from, `0800${'45'}${'00'.repeat(8)}11${'00'.repeat(10)}00440043`, 300);

const arp = (operation: number, to: string, from: string): Buffer =>
  frame(to, from, `080600010800${'0604'}000${operation}${from}c0a87a07${to}c0a87a01`);

async function segment(t: TestContext) {
  const fabric = await startFabric(t);
  const told: Buffer[] = [];
  const settings = { service: SERVICE, gateway: GATEWAY };
  const device = await fabric.createDevice('nat', settings, (bytes) => told.push(Buffer.from(bytes)));
  const at = (number: number) => plugged(t, fabric, device, number);
  return { device, told, host: await at(0), a: await at(1), b: await at(2) };
}

async function plugged(t: TestContext, fabric: Fabric, device: MemoryDevice<'nat'>, number: number) {
  const { peer, cable } = await peerWithCable(t);
  const port = await fabric.createPort({ kind: 'memory', device, number });
  await port.connect(cable);
  const send = (...frames: Buffer[]) => peer.send(cable.localPort, ...frames);
  return { peer, send };
}

test('nodes of a NAT network and the host reach each other; who is known is not flooded to the others', async (t) => {
  const { host, a, b } = await segment(t);
  await a.send(frame(BROADCAST, A));
  for (const { peer } of [host, b]) assert.deepEqual(await peer.take(1), [frame(BROADCAST, A)]);
  await b.send(frame(A, B));
  assert.deepEqual(await a.peer.take(1), [frame(A, B)]);
  await host.send(frame(B, GATEWAY));
  assert.deepEqual(await b.peer.take(1), [frame(B, GATEWAY)]);
  await a.send(frame(GATEWAY, A));
  assert.deepEqual(await host.peer.take(1), [frame(GATEWAY, A)]);
  assert.deepEqual(
    [host, a, b].map(({ peer }) => peer.heard.length),
    [0, 0, 0],
  );
});

test("a node that takes the gateway for itself, by its MAC, gets nothing that is the gateway's", async (t) => {
  const { host, a, b } = await segment(t);
  await b.send(frame(BROADCAST, GATEWAY), frame(A, B));
  await a.peer.take(2);
  await a.send(frame(GATEWAY, A));
  assert.deepEqual((await host.peer.take(3))[2], frame(GATEWAY, A));
  assert.equal(b.peer.heard.length, 0);
});

test('DHCP requests go to the services and to no other port, also by the address of the gateway', async (t) => {
  const { told, host, a, b } = await segment(t);
  const asked = [dhcp(BROADCAST, A), dhcp(GATEWAY, A)];
  await a.send(...asked, frame(BROADCAST, A));
  assert.deepEqual(await until(async () => told.length === 2 && told), asked);
  for (const { peer } of [host, b]) assert.deepEqual(await peer.take(1), [frame(BROADCAST, A)]);
});

test('answers of the services reach the one whom they are for, or every node, but never the host', async (t) => {
  const { device, host, a, b } = await segment(t);
  device.tell(frame(BROADCAST, SERVICE));
  for (const { peer } of [a, b]) assert.deepEqual(await peer.take(1), [frame(BROADCAST, SERVICE)]);
  await a.send(frame(BROADCAST, A));
  await b.peer.take(1);
  device.tell(frame(A, SERVICE));
  assert.deepEqual(await a.peer.take(1), [frame(A, SERVICE)]);
  assert.deepEqual([b.peer.heard.length, (await host.peer.take(1)).length], [0, 1]);
});

test('ARP answers to the services come out, other ARP passes', async (t) => {
  const { told, a, b } = await segment(t);
  await b.send(frame(BROADCAST, B));
  await a.peer.take(1);
  await a.send(arp(2, SERVICE, A), arp(1, BROADCAST, A), arp(2, B, A));
  assert.deepEqual(await b.peer.take(2), [arp(1, BROADCAST, A), arp(2, B, A)]);
  assert.deepEqual(told, [arp(2, SERVICE, A)]);
});

test('a flood of DHCP questions is cut short, and the next second is served again', async (t) => {
  const { told, a, b } = await segment(t);
  const start = performance.now();
  for (let burst = 0; burst < 20; burst++) await a.send(...Array.from({ length: 50 }, () => dhcp(BROADCAST, A)));
  await a.send(frame(BROADCAST, A));
  await b.peer.take(1);
  const most = 64 + (256 * (performance.now() - start)) / 1000;
  assert.ok(told.length <= most, `${told.length} of 1000 came through, and ${most} at the most should have`);
  const before = told.length;
  await until(async () => {
    await a.send(dhcp(BROADCAST, A));
    return told.length > before;
  });
});
