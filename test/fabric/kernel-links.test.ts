import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Fabric, FabricPort } from '../../src/fabric/fabric.ts';
import { programAt } from '../../src/host/network/interface-programs.ts';
import { findLink, getLink, links, removeLink } from '../../src/host/network/kernel-interfaces.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Container, container, KERNEL, linked, NOTHING, pair, pathOf, startFabric } from './kernel-peers.ts';
import { isLoaded, mapsOf } from './loaded-bpf.ts';
import { cannotMakeInterfaces, ip, transfer } from './namespaces.ts';
import { ends, settled, until } from './peers.ts';

const skip = cannotMakeInterfaces;
const MEGABYTE = 1 << 20;

/** From now on the containers ask nobody for the addresses that they know. */
async function rememberNeighbours(...containers: Container[]): Promise<void> {
  for (const { namespace } of containers) {
    const [{ dst, lladdr, dev }] = JSON.parse(await namespace.ip('-json', 'neigh'));
    await namespace.ip('neigh', 'replace', dst, 'lladdr', lladdr, 'dev', dev, 'nud', 'permanent');
  }
}

test('a plain cable is forwarded by the kernel, whose frames are counted exactly', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  assert.deepEqual(await pathOf(a), KERNEL);
  assert.deepEqual(await pathOf(b), KERNEL);
  await transfer(a.namespace, b.namespace, '10.99.0.2', 32 * MEGABYTE);
  const [near, far] = [await a.port.statistics(), await b.port.statistics()];
  assert.deepEqual([near.toCable, near.toDevice], [far.toDevice, far.toCable]);
  assert.ok(near.toCable.bytes > 32 * MEGABYTE);
  assert.ok(near.toCable.bytes / near.toCable.frames < 1515, 'super-frames count as the frames they are cut into');
  const cable = await a.port.cableStatistics();
  assert.deepEqual(cable.outgoing.delivered, near.toCable);
  assert.deepEqual(cable.incoming.delivered, near.toDevice);
  assert.deepEqual((await fabric.totals()).toCable, {
    frames: near.toCable.frames + far.toCable.frames,
    bytes: near.toCable.bytes + far.toCable.bytes,
  });
  await a.port.resetStatistics();
  assert.deepEqual((await a.port.cableStatistics()).outgoing.offered, { frames: 0, bytes: 0 });
});

test('both ways count the same, frame by frame and byte by byte', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  await ip('-n', a.namespace.name, 'neigh', 'flush', 'all');
  const count = async () => {
    const before = (await a.port.statistics()).toCable;
    await a.namespace.run('ping', '-c', '5', '-i', '0.02', '-s', '3000', '-W', '10', '10.99.0.2');
    const { toCable } = await a.port.statistics();
    return [toCable.frames - before.frames, toCable.bytes - before.bytes];
  };
  await a.namespace.run('ping', '-c', '1', '-W', '10', '10.99.0.2');
  await rememberNeighbours(a, b);
  const inKernel = await count();
  await a.port.impair(NOTHING);
  assert.deepEqual(await pathOf(a), { by: 'fabric', reason: 'the link is suspended, filtered or impaired' });
  assert.deepEqual(await count(), inKernel);
});

test('the next frame takes the new way when a cable is suspended, resumed and removed', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  const ping = () => a.namespace.run('ping', '-c', '1', '-W', '1', '10.99.0.2');
  await ping();
  await b.port.impair({ frequencyDrop: -1 });
  await assert.rejects(ping());
  assert.ok((await b.port.statistics()).drops.frequencyDrop > 0);
  await b.port.impair({});
  assert.deepEqual(await pathOf(a), KERNEL);
  await ping();
  const { toCable } = await a.port.statistics();
  await b.port.disconnect();
  assert.equal((await a.port.statistics()).toCable.frames, toCable.frames, 'counts stay when the cable goes');
  await assert.rejects(ping());
  await a.port.disconnect();
  await assert.rejects(ping());
  assert.ok((await a.port.statistics()).drops.noCable > 0);
});

test('the next frame takes the new way when a capture or a schedule begins and ends', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  const ping = (count: number, wait = 10) =>
    a.namespace.run('ping', '-c', `${count}`, '-i', '0.05', '-W', `${wait}`, '10.99.0.2');
  await ping(1);
  await rememberNeighbours(a, b);
  const directory = await scratchDirectory(t);
  await b.port.startCapture({ file: join(directory, 'link.pcap'), linkType: 'DLT_EN10MB' });
  assert.deepEqual(await pathOf(a), { by: 'fabric', reason: 'the link is captured' });
  await ping(3);
  const { capture } = await b.port.statistics();
  assert.equal(capture?.frames, 6, 'each request and each answer');
  await b.port.stopCapture();
  assert.deepEqual(await pathOf(a), KERNEL);
  await ping(2);

  const lost = { outgoing: { loss: { percent: 100 } }, incoming: {} };
  const base = { outgoing: {}, incoming: {} };
  await b.port.schedule({ period: Infinity, rounds: 1, changes: [{ at: 0, impairments: lost }], base });
  await assert.rejects(ping(1, 1));
  await b.port.cancelSchedule();
  assert.deepEqual(await pathOf(a), KERNEL);
  await ping(2);
});

test('a hub with two ports is forwarded by the kernel and counted at each port, and one with three is not', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await container(t, fabric, '10.99.0.1/24'), await container(t, fabric, '10.99.0.2/24')];
  const seats: FabricPort[] = [];
  for (const [number, { port }] of [a, b].entries()) {
    const seat = await fabric.createPort({ kind: 'memory', device: hub, number });
    const [near, far] = await ends();
    await port.connect(near);
    await seat.connect(far);
    seats.push(seat);
  }
  const all = [a.port, seats[0]!, seats[1]!, b.port];
  const paths = () => Promise.all(all.map(async (port) => (await port.statistics()).path));
  assert.deepEqual(await paths(), [KERNEL, KERNEL, KERNEL, KERNEL]);
  const before = await fabric.totals();
  await transfer(a.namespace, b.namespace, '10.99.0.2', 8 * MEGABYTE);
  const [near, first, second, far] = await Promise.all(all.map((port) => port.statistics()));
  assert.ok(near!.toCable.bytes > 8 * MEGABYTE);
  for (const { toDevice } of [first!, far!]) assert.deepEqual(toDevice, near!.toCable);
  assert.deepEqual(second!.toCable, near!.toCable);
  for (const { toCable } of [first!, far!]) assert.deepEqual(toCable, near!.toDevice);
  assert.deepEqual(second!.toDevice, near!.toDevice);
  assert.ok((await fabric.totals()).toCable.bytes > before.toCable.bytes);
  for (const port of all) assert.ok((await port.cableStatistics()).outgoing.delivered.frames > 0);

  const third = await fabric.createPort({ kind: 'memory', device: hub, number: 2 });
  assert.equal((await paths())[0]!.by, 'fabric');
  await a.namespace.run('ping', '-c', '1', '-W', '10', '10.99.0.2');
  await third.close();
  assert.deepEqual(await paths(), [KERNEL, KERNEL, KERNEL, KERNEL]);
  // A change of the further cable is one of the whole way.
  await seats[1]!.impair({ frequencyDrop: -1 });
  await assert.rejects(a.namespace.run('ping', '-c', '1', '-W', '1', '10.99.0.2'));
  await seats[1]!.impair({});
  await seats[1]!.disconnect();
  await assert.rejects(a.namespace.run('ping', '-c', '1', '-W', '1', '10.99.0.2'));
});

test('the node of a closed port reaches no other', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  await a.namespace.run('ping', '-c', '1', '-W', '10', '10.99.0.2');
  await b.port.close();
  await assert.rejects(a.namespace.run('ping', '-c', '1', '-W', '1', '10.99.0.2'));
});

test('a new link works at once at the interfaces and UDP ports of one that was just removed', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = [await container(t, fabric, '10.99.0.1/24'), await container(t, fabric, '10.99.0.2/24')];
  const cables = await ends();
  let ports = [a.port, b.port];
  for (let round = 0; round < 10; round++) {
    for (const [index, cable] of cables.entries()) await ports[index]!.connect(cable);
    assert.deepEqual((await ports[0]!.statistics()).path, KERNEL);
    await a.namespace.run('ping', '-c', '1', '-W', '1', '10.99.0.2');
    await Promise.all(ports.map((port) => port.close()));
    ports = [];
    for (const { link } of [a, b])
      ports.push(await fabric.createPort({ kind: 'packet', interface: link, kernel: true }));
  }
});

const relays = () => links().filter(({ name }) => name.startsWith('lwr'));

for (const way of ['its ports are closed', 'it stops'] as const)
  test(`a fabric leaves no interface, queue, program or map behind when ${way}`, { skip }, async (t) => {
    const fabric = await startFabric(t);
    const pairs = [];
    while (pairs.length < 20) pairs.push(await pair(t, fabric));
    assert.equal(relays().length, pairs.length);
    const all = [...relays(), ...pairs.map(({ link }) => getLink(link))];
    const programs = all.map(({ name }) => programAt(name)!.id);
    const maps = mapsOf(programs);
    assert.ok(maps.size >= 5);
    if (way === 'its ports are closed') await Promise.all(pairs.map(({ port }) => port.close()));
    await fabric.stop();
    assert.deepEqual(relays(), []);
    // What outlives the server leaves with the nodes' interfaces.
    for (const { link } of pairs) removeLink(link);
    await until(async () => ![...programs].some((id) => isLoaded('program', id)));
    await until(async () => ![...maps].some((id) => isLoaded('map', id)));
    assert.doesNotMatch(execFileSync('tc', ['qdisc'], { encoding: 'utf8' }), /ingress|clsact/);
  });

test('while the kernel refuses an interface, its link is forwarded by the fabric and the reason is reported', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const tc = (...words: string[]) => execFileSync('tc', words);
  const a = await container(t, fabric, '10.99.0.1/24', (link) => {
    // Another filter has the place of the program.
    tc('filter', 'delete', 'dev', link, 'ingress');
    tc(...`filter add dev ${link} ingress prio 1 protocol all u32 match u32 0 0 flowid 1:1`.split(' '));
  });
  const b = await container(t, fabric, '10.99.0.2/24');
  const [one, two] = await ends();
  await a.port.connect(one);
  await b.port.connect(two);
  const ping = () => a.namespace.run('ping', '-q', '-c', '3', '-i', '0.05', '-W', '1', '10.99.0.2');
  assert.doesNotMatch(await ping(), /DUP/i);
  for (const end of [a, b]) {
    const { by, reason } = await pathOf(end);
    assert.equal(by, 'fabric');
    assert.match(reason!, /^the kernel has refused to forward, and is tried again: .*attach a program to lw/);
  }
  const { toCable } = await a.port.statistics();
  assert.ok(toCable.frames >= 3);

  await rememberNeighbours(a, b);
  const receiver = flow(b, 'receive');
  t.after(() => receiver.kill());
  const sender = flow(a, 'send', '10.99.0.2', await receiver.line(), '500');
  t.after(() => sender.kill());
  tc('filter', 'delete', 'dev', a.link, 'ingress');
  await settled(a.port, ({ path }) => path.by === 'kernel');
  const sent = Number(await sender.end());
  const { received, doubled, overflow } = JSON.parse(await receiver.end());
  t.diagnostic(JSON.stringify({ sent, received, doubled, overflow }));
  assert.equal(doubled, 0);
  assert.ok(sent - received - overflow <= 2, 'frames of one moment may be lost');
  assert.ok((await a.port.statistics()).toCable.frames >= toCable.frames + sent - 2);
  assert.deepEqual(await pathOf(b), KERNEL);
});

test('with kernel links off frames go as before, and the reason is reported', { skip }, async (t) => {
  const fabric = await startFabric(t, 'off');
  const [a, b] = await linked(t, fabric);
  await transfer(a.namespace, b.namespace, '10.99.0.2', MEGABYTE);
  assert.deepEqual(await pathOf(a), { by: 'fabric', reason: 'kernel_links is off' });
});

/** Ports of another fabric at the containers, with the same cable. */
async function takenOver(next: Fabric, containers: readonly Container[]): Promise<FabricPort[]> {
  const cables = await ends();
  const ports: FabricPort[] = [];
  for (const [index, { link }] of containers.entries()) {
    const port = await next.createPort({ kind: 'packet', interface: link, kernel: true });
    await port.connect(cables[index]!);
    ports.push(port);
  }
  return ports;
}

test('plain links go on while no fabric runs, and the next one takes them over with their counters', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  const ping = () => a.namespace.run('ping', '-c', '3', '-i', '0.05', '-W', '1', '10.99.0.2');
  await ping();
  await a.port.disconnect();
  await b.port.disconnect();
  const [one, two] = await ends();
  await a.port.connect(one);
  await b.port.connect(two);
  await settled(b.port, ({ path }) => path.by === 'kernel');
  await rememberNeighbours(a, b);
  await ping();
  await a.port.resetStatistics();
  await ping();
  await fabric.stop();
  await ping();
  const next = await startFabric(t);
  const [near, far] = await takenOver(next, [a, b]);
  await ping();
  assert.deepEqual((await near!.statistics()).path, KERNEL);
  const { outgoing, incoming } = await near!.cableStatistics();
  // Those since the reset: before the end, without a fabric, and afterwards.
  assert.deepEqual(
    [outgoing.delivered, incoming.delivered],
    [
      { frames: 9, bytes: 9 * 98 },
      { frames: 9, bytes: 9 * 98 },
    ],
  );
  assert.equal((await far!.statistics()).toCable.frames, 9);
});

test('without kernel links no program of an earlier fabric forwards beside the next one', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  const ping = () => a.namespace.run('ping', '-c', '3', '-i', '0.05', '-W', '1', '10.99.0.2');
  await ping();
  await fabric.stop();
  const next = await startFabric(t, 'off');
  const [near] = await takenOver(next, [a, b]);
  assert.doesNotMatch(await ping(), /DUP/);
  assert.ok((await near!.statistics()).toCable.frames >= 3);
});

/** Starts a program of the flow in a namespace; resolves when it has printed a line. */
function flow({ namespace }: Container, ...words: string[]) {
  const script = fileURLToPath(new URL('./numbered-flow.ts', import.meta.url));
  const child: ChildProcess = spawn('ip', ['netns', 'exec', namespace.name, process.execPath, script, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    line: async (): Promise<string> => (await lines.next()).value ?? '',
    async end(): Promise<string> {
      child.stdin!.end();
      const { value } = await lines.next();
      if (child.exitCode === null) await once(child, 'exit');
      return value ?? '';
    },
    kill: () => child.kill('SIGKILL'),
  };
}

test('1,000 changes of the way under 5,000 frames a second lose and double none', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  await a.namespace.run('ping', '-c', '1', '-W', '10', '10.99.0.2');
  const receiver = flow(b, 'receive');
  t.after(() => receiver.kill());
  const sender = flow(a, 'send', '10.99.0.2', await receiver.line(), '5000');
  t.after(() => sender.kill());
  await settled(a.port, ({ toCable }) => toCable.frames > 200);
  for (let round = 0; round < 500; round++) {
    await a.port.impair(NOTHING);
    await a.port.impair({});
  }
  const sent = Number(await sender.end());
  // What the fabric still has is on its way.
  await until(async () => {
    const [near, far] = [await a.port.statistics(), await b.port.statistics()];
    return near.toCable.frames + near.drops.receiveQueue > sent && far.toDevice.frames === near.toCable.frames;
  });
  const { drops, path } = await a.port.statistics();
  assert.deepEqual(path, KERNEL);
  const result = JSON.parse(await receiver.end());
  const { outgoing } = await a.port.cableStatistics();
  t.diagnostic(JSON.stringify({ sent, ...result, queue: drops.receiveQueue, told: outgoing.reordered }));
  assert.equal(result.doubled, 0);
  assert.equal(result.received + result.overflow + drops.receiveQueue, sent);
  assert.ok(result.reordered === 0 || outgoing.reordered > 0, 'overtaken frames are told');
});

test('a stream survives changes of the way', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await linked(t, fabric);
  let isOver = false;
  const stream = transfer(a.namespace, b.namespace, '10.99.0.2', 256 * MEGABYTE).finally(() => {
    isOver = true;
  });
  let changes = 0;
  for (; !isOver; changes += 2) {
    await a.port.impair(NOTHING);
    await a.port.impair({});
  }
  await stream;
  t.diagnostic(`${changes} changes`);
  assert.ok(findLink(a.link)?.up);
});
