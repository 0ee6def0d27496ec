import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { Fabric } from '../../src/fabric/fabric.ts';
import { terminateLast, workers } from './crashes.ts';
import { ends, hubPort, settled } from './peers.ts';

async function startThreads(t: TestContext, threads: number): Promise<Fabric> {
  const fabric = new Fabric({ threads });
  await fabric.start();
  t.after(() => fabric.stop());
  return fabric;
}

test('one thread runs at the start; a further group gets a further one, as far as they go, and then the one with the least on it', async (t) => {
  const before = workers.length;
  const fabric = await startThreads(t, 2);
  const count = (): number => workers.length - before;
  assert.equal(count(), 1);
  await fabric.createPort(null, undefined, 'one');
  await fabric.createPort(null, undefined, 'one');
  assert.equal(count(), 1);
  const port = await fabric.createPort(null, undefined, 'two');
  assert.equal(count(), 2);
  const hub = await fabric.createDevice('hub', {}, undefined, 'three');
  assert.equal(count(), 2);
  // On the thread of group two, which had one port, not two: they can be put together.
  await port.setDevice({ kind: 'memory', device: hub, number: 0 });
});

test('a cable within a group is fused; one between two threads carries the frames by UDP', async (t) => {
  const fabric = await startThreads(t, 2);
  const [left, right] = [
    await fabric.createDevice('hub', {}, undefined, 'left'),
    await fabric.createDevice('hub', {}, undefined, 'right'),
  ];
  const [a, b] = [await hubPort(t, fabric, left), await hubPort(t, fabric, right)];
  const [near, far] = await ends();
  const one = await fabric.createPort({ kind: 'memory', device: left, number: 1 });
  const other = await fabric.createPort({ kind: 'memory', device: right, number: 1 });
  await one.connect(near);
  await other.connect(far);
  assert.equal((await one.statistics()).fused, false);
  await a.peer.send(a.localPort, 'from thread to thread');
  assert.deepEqual(await b.peer.takeText(), ['from thread to thread']);
  await b.peer.send(b.localPort, 'and back');
  assert.deepEqual(await a.peer.takeText(), ['and back']);
  await other.disconnect();
  const beside = await fabric.createPort({ kind: 'memory', device: left, number: 2 });
  await beside.connect(far);
  assert.equal((await one.statistics()).fused, true);
});

test('the death of one thread is not noticed on another', async (t) => {
  const fabric = await startThreads(t, 2);
  const [left, right] = [
    await fabric.createDevice('hub', {}, undefined, 'left'),
    await fabric.createDevice('hub', {}, undefined, 'right'),
  ];
  const [a, b] = [await hubPort(t, fabric, left), await hubPort(t, fabric, left)];
  const c = await hubPort(t, fabric, right);
  await a.peer.send(a.localPort, 'first');
  assert.deepEqual(await b.peer.takeText(), ['first']);
  const crashed = once(fabric, 'crashed');
  const recovered = once(fabric, 'recovered');
  terminateLast(c.port);
  const [{ groups }] = (await crashed) as [{ groups: string[] }];
  assert.ok(groups.includes('right') && !groups.includes('left'));
  await a.peer.send(a.localPort, 'second');
  assert.deepEqual(await b.peer.takeText(), ['second']);
  await recovered;
  // Counters begin again with a thread.
  await settled(a.port, ({ toDevice }) => toDevice.frames === 2);
});

test('a device in memory and a port of groups that lie apart are refused', async (t) => {
  const fabric = await startThreads(t, 2);
  const hub = await fabric.createDevice('hub', {}, undefined, 'left');
  const port = await fabric.createPort(null, undefined, 'right');
  await assert.rejects(port.setDevice({ kind: 'memory', device: hub, number: 0 }), {
    code: 'invalid',
    message: /group/,
  });
});
