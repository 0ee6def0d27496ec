import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Crash, Fabric, type Recovery } from '../../src/fabric/fabric.ts';
import { FrameCalls } from '../../src/host/system-calls.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { breakWait, terminateLast } from './crashes.ts';
import { emulatorPort, ends, hubPort, Peer, peerWithCable, settled, startFabric, until } from './peers.ts';

/** Resolves when a thread was rebuilt. */
async function recovery(fabric: Fabric): Promise<Recovery> {
  return (await once(fabric, 'recovered'))[0] as Recovery;
}

const WAYS = {
  'ends in the middle of its work': (_udpPort: number, ...[port]: Parameters<typeof terminateLast>) =>
    terminateLast(port),
  throws: breakWait,
};

for (const [way, crash] of Object.entries(WAYS)) {
  test(`a lab whose thread ${way} goes on: hub, cables, impairments, devices and captures`, async (t) => {
    const fabric = await startFabric(t);
    const hub = await fabric.createDevice('hub', {}, undefined, 'lab');
    const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
    const pc = await emulatorPort(t, fabric);
    const [near, far] = await ends();
    const uplink = await fabric.createPort({ kind: 'memory', device: hub, number: 2 });
    await uplink.connect(near);
    await pc.port.connect(far);
    const deaf = await hubPort(t, fabric, hub);
    await deaf.port.impair({ frequencyDrop: -1 });
    const file = join(await scratchDirectory(t), 'capture.pcap');
    await b.port.startCapture({ file, linkType: 'DLT_EN10MB' });
    await a.peer.send(a.localPort, 'before the crash');
    assert.deepEqual(await b.peer.takeText(), ['before the crash']);
    assert.deepEqual(await pc.emulator.takeText(), ['before the crash']);
    await until(async () => readFileSync(file, 'latin1').includes('before the crash'));

    const counted = (await fabric.totals()).toDevice.frames;
    assert.ok(counted >= 2);
    const load = new OtherLoad();
    const recovered = recovery(fabric);
    crash(a.localPort, a.port);
    const { milliseconds, failures, groups } = await recovered;
    await judge(t, { what: 'another thread has all of it', value: milliseconds, limit: 1000, unit: 'ms', load });
    assert.deepEqual(failures, []);
    assert.ok(groups.includes('lab'));
    t.diagnostic(`rebuilt in ${Math.round(milliseconds)} ms`);

    assert.equal((await pc.port.statistics()).fused, true);
    await a.peer.send(a.localPort, 'after the crash');
    assert.deepEqual(await b.peer.takeText(), ['after the crash']);
    assert.deepEqual(await pc.emulator.takeText(), ['after the crash']);
    assert.ok((await fabric.totals()).toDevice.frames >= counted + 2, 'what was counted before is not forgotten');
    await pc.emulator.send(pc.localPort, 'from the PC');
    assert.deepEqual(await a.peer.takeText(), ['from the PC']);
    await settled(deaf.port, ({ drops }) => drops.frequencyDrop === 2);
    assert.deepEqual(deaf.peer.heard, []);
    await b.port.stopCapture();
    const captured = readFileSync(file, 'latin1');
    for (const frame of ['before the crash', 'after the crash', 'from the PC'])
      assert.ok(captured.includes(frame), frame);
  });
}

test('a schedule goes on after a crash where it would be, and one that has ended does not begin again', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {}, undefined, 'lab');
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  const base = { outgoing: {}, incoming: {} };
  const off = { outgoing: { loss: { percent: 100 } }, incoming: {} };
  const changes = [{ at: 0, impairments: off }];
  await a.port.schedule({ changes, period: 50, rounds: 1, base });
  await b.port.schedule({ changes, period: 3_600_000, rounds: 2, base });
  await until(async () => (await a.port.scheduleState())?.state === 'finished');
  const recovered = recovery(fabric);
  terminateLast(a.port);
  await recovered;
  const [ended, runs] = [await a.port.scheduleState(), await b.port.scheduleState()];
  assert.deepEqual([ended?.state, runs?.state, runs?.round], ['finished', 'running', 0]);
  assert.ok(ended!.elapsed === 50 && runs!.elapsed > 50, JSON.stringify({ ended, runs }));
});

test('what was unplugged, exchanged or closed before the crash is so after it', async (t) => {
  const fabric = await startFabric(t);
  const [hub, gone] = [await fabric.createDevice('hub', {}), await fabric.createDevice('hub', {})];
  const [a, moved, closed] = [
    await hubPort(t, fabric, hub),
    await hubPort(t, fabric, gone),
    await hubPort(t, fabric, hub),
  ];
  const orphan = await hubPort(t, fabric, gone);
  await moved.port.setDevice({ kind: 'memory', device: hub, number: 7 });
  await gone.close();
  await closed.port.close();
  const pulled = await hubPort(t, fabric, hub);
  await pulled.port.disconnect();
  const recovered = recovery(fabric);
  terminateLast(a.port);
  assert.deepEqual((await recovered).failures, []);
  await Peer.open(t, { port: closed.localPort });
  await Peer.open(t, { port: pulled.localPort });
  await moved.peer.send(moved.localPort, 'at its new hub');
  assert.deepEqual(await a.peer.takeText(), ['at its new hub']);
  await orphan.peer.send(orphan.localPort, 'to nobody');
  await settled(orphan.port, ({ drops }) => drops.noDevice === 1);
});

test('what is asked while the thread is dead is done by the next one, once', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const a = await hubPort(t, fabric, hub);
  const { peer, cable } = await peerWithCable(t);
  terminateLast(a.port);
  // The worker has ended or will before it comes to this.
  const port = await fabric.createPort({ kind: 'memory', device: hub, number: 1 });
  await port.connect(cable);
  await a.peer.send(a.localPort, 'to the new port');
  assert.deepEqual(await peer.takeText(), ['to the new port']);
  await port.close();
  await Peer.open(t, { port: cable.localPort });
});

test('the sockets of a dead thread are closed, and none is left when the fabric is stopped', async (t) => {
  const count = (): number => readdirSync('/proc/self/fd').length;
  const fabric = new Fabric();
  await fabric.start();
  await fabric.stop();
  const before = count();
  await fabric.start();
  const [{ peer, cable }, port] = [await peerWithCable(t), await fabric.createPort(null)];
  await port.connect(cable);
  const alive = count();
  for (let round = 0; round < 2; round++) {
    const recovered = recovery(fabric);
    terminateLast(port);
    await recovered;
  }
  assert.equal(count(), alive);
  await peer.release();
  await fabric.stop();
  assert.equal(count(), before);
});

test('what cannot be had again is reported, and the rest goes on', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b, c] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  const thief = new FrameCalls();
  let stolen = 0;
  fabric.once('crashed', () => {
    stolen = thief.openUdpSocket({ host: '0.0.0.0', port: c.localPort }, { host: '127.0.0.1', port: 9 }, 4096);
  });
  t.after(() => thief.close(stolen));
  const recovered = recovery(fabric);
  terminateLast(a.port);
  const { failures } = await recovered;
  assert.equal(failures.length, 1);
  assert.match(failures[0]!, new RegExp(`UDP port ${c.localPort} `));
  await a.peer.send(a.localPort, 'to the rest');
  assert.deepEqual(await b.peer.takeText(), ['to the rest']);
});

test('a thread that dies three times in a minute is given up: said once, its UDP ports free, its lab closed without an error', async (t) => {
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {}, undefined, 'lab');
  const { port, localPort } = await hubPort(t, fabric, hub);
  const told: string[] = [];
  fabric.on('crashed', ({ reason }) => told.push(`crashed: ${reason}`));
  fabric.on('recovered', () => told.push('recovered'));
  const lost = once(fabric, 'lost') as Promise<[Crash]>;
  for (let round = 0; round < 2; round++) {
    const recovered = recovery(fabric);
    breakWait(localPort, port);
    await recovered;
  }
  breakWait(localPort, port);
  const [{ reason, groups }] = await lost;
  assert.match(reason, /EBADF/);
  assert.deepEqual(groups, ['lab']);
  assert.deepEqual(
    told.map((event) => event.replace(/EBADF.*/, '…')),
    [
      'crashed: epoll_wait: bad file descriptor (…',
      'recovered',
      'crashed: epoll_wait: bad file descriptor (…',
      'recovered',
    ],
  );
  await assert.rejects(port.statistics(), { code: 'internal', message: /crashed 3 times within a minute.*EBADF/ });
  await port.close();
  await hub.close();
  await Peer.open(t, { port: localPort });

  const rebuilt = await fabric.createDevice('hub', {}, undefined, 'lab');
  const [a, b] = [await hubPort(t, fabric, rebuilt), await hubPort(t, fabric, rebuilt)];
  await a.peer.send(a.localPort, 'on a new thread');
  assert.deepEqual(await b.peer.takeText(), ['on a new thread']);
});
