// The sockets of IOU's ports, two of them face to face: each is to the other what an image would be.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { Fabric } from '../../src/fabric/fabric.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { terminateLast } from './crashes.ts';
import { devicePort, settled, startFabric } from './peers.ts';

/** A port of a socket, with a peer at its cable. */
async function port(
  t: TestContext,
  fabric: Fabric,
  directory: string,
  [application, bridge]: [number, number],
  number = 0x21,
) {
  const device = await fabric.createDevice('iol-socket', { directory, application, bridge });
  return { ...(await devicePort(t, fabric, device, number)), device };
}

test('frames reach the port that their header names, unchanged and in order, also in bursts that the kernel does not queue', async (t) => {
  const fabric = await startFabric(t);
  const directory = await scratchDirectory(t);
  const a = await port(t, fabric, directory, [1, 513]);
  await a.peer.send(a.localPort, 'nobody is there');
  await settled(a.port, ({ drops }) => drops.noDevice === 1);
  const b = await port(t, fabric, directory, [513, 1]);
  const other = await devicePort(t, fabric, b.device, 0x12);
  const frames = Array.from({ length: 200 }, (_, index) => `frame ${index} ${'x'.repeat(index)}`);
  await a.peer.send(a.localPort, ...frames);
  assert.deepEqual(await b.peer.takeText(frames.length), frames);
  await b.peer.send(b.localPort, 'back');
  assert.deepEqual(await a.peer.takeText(), ['back']);
  // The other end has no such port.
  await other.peer.send(other.localPort, 'lost');
  const longest = Buffer.alloc(4096, 7);
  await a.peer.send(a.localPort, Buffer.alloc(4097), longest);
  assert.deepEqual(await b.peer.take(1), [longest]);
  assert.equal((await a.port.statistics()).drops.tooLong, 1);
  assert.equal((await a.port.statistics()).toCable.frames, 1);
});

test('sockets and their ports are there again when their thread has died', async (t) => {
  const fabric = await startFabric(t);
  const directory = await scratchDirectory(t);
  const a = await port(t, fabric, directory, [1, 513]);
  const b = await port(t, fabric, directory, [513, 1]);
  await a.peer.send(a.localPort, 'before');
  assert.deepEqual(await b.peer.takeText(), ['before']);
  const recovered = once(fabric, 'recovered');
  terminateLast(a.port);
  assert.deepEqual((await recovered)[0].failures, []);
  await a.peer.send(a.localPort, 'after');
  assert.deepEqual(await b.peer.takeText(), ['after']);
  await b.peer.send(b.localPort, 'back');
  assert.deepEqual(await a.peer.takeText(), ['back']);
});
