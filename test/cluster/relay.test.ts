// Frames between hosts without a direct way, over a real NATS on this host.

import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { leasesOf } from '../../src/cluster/leases.ts';
import type { FrameRelay } from '../../src/cluster/relay.ts';
import { framesTo } from '../../src/cluster/subjects.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { relayOf, threeMembers } from './hosts.ts';
import { Nats } from './nats.ts';

const skip = missing('nats-server', 'openssl');

/** The fabric's end of a link: a UDP socket that has collected what came. */
class Tunnel {
  readonly #socket: Socket;
  readonly received: string[] = [];
  readonly port: number;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.port = socket.address().port;
    socket.on('message', (frame) => this.received.push(frame.toString()));
  }

  static async open(t: TestContext): Promise<Tunnel> {
    const socket = createSocket('udp4');
    t.after(() => socket.close());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new Tunnel(socket);
  }

  send(frame: string, port: number): void {
    this.#socket.send(frame, port, '127.0.0.1');
  }
}

async function threeHosts(t: TestContext): Promise<{ connections: NatsConnection[]; relays: FrameRelay[] }> {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const hosts = await Promise.all(members.map((member) => relayOf(files, member)));
  t.after(async () => {
    for (const { relay, nats } of hosts) {
      relay.stop();
      await nats.close();
    }
  });
  return { connections: hosts.map(({ nats }) => nats), relays: hosts.map(({ relay }) => relay) };
}

test('frames reach the far end of their link, from the host at that end only, until the link is gone', {
  skip,
}, async (t) => {
  const { connections, relays } = await threeHosts(t);
  const [, atB, atC] = relays as [FrameRelay, FrameRelay, FrameRelay];
  const [one, other] = [await Tunnel.open(t), await Tunnel.open(t)];
  const outOfB = await atB.open(one.port, { host: 'c', port: other.port });
  const outOfC = await atC.open(other.port, { host: 'b', port: one.port });
  const longest = 'x'.repeat(9_018);
  one.send(longest, outOfB);
  other.send('back', outOfC);
  await eventually(
    'both frames',
    () => [one.received, other.received],
    ([back, there]) => back?.[0] === 'back' && there?.[0] === longest,
  );

  // Another host may publish under its own name only, and the controller's name is not that of the far end.
  const [a, b] = connections as [NatsConnection, NatsConnection];
  const refused = (async () => {
    for await (const status of b.status()) if (status.type === 'error') return String(status.error);
    return '';
  })();
  b.publish(framesTo({ host: 'c', port: other.port }, 'a', true), 'as another host');
  assert.match(await refused, /permissions violation/i);
  a.publish(framesTo({ host: 'c', port: other.port }, 'a', false), 'from another host');
  await a.flush();
  atB.close(one.port);
  one.send('after the end', outOfB);
  other.send('to nowhere', outOfC);
  await sleep(200);
  assert.deepEqual([one.received.length, other.received.length], [1, 1]);
});

test('an answer of NATS that a joined host directs at another one, as if a third one had sent it, is no frame', {
  skip,
}, async (t) => {
  const { connections, relays } = await threeHosts(t);
  const [a, b, c] = connections as [NatsConnection, NatsConnection, NatsConnection];
  await leasesOf(a, true);
  const atC = relays[2]!;
  const tunnel = await Tunnel.open(t);
  await atC.open(tunnel.port, { host: 'a', port: 1 });
  for (const isJoined of [false, true])
    b.publish('$JS.API.INFO', '', { reply: framesTo({ host: 'c', port: tunnel.port }, 'a', isJoined) });
  await b.flush();
  await eventually('the answers', async () => {
    await c.flush();
    return [...atC.counters.samples()].some(({ value }) => value >= 2);
  });
  await sleep(100);
  assert.deepEqual(tunnel.received, []);
});

test('frames are dropped while there is no connection, and pass again with the next one', { skip }, async (t) => {
  const { connections, relays } = await threeHosts(t);
  const [, atB, atC] = relays as [FrameRelay, FrameRelay, FrameRelay];
  const [one, other] = [await Tunnel.open(t), await Tunnel.open(t)];
  const out = await atB.open(one.port, { host: 'c', port: other.port });
  await atC.open(other.port, { host: 'b', port: one.port });
  atB.carrier = undefined;
  one.send('lost', out);
  await sleep(100);
  atB.carrier = connections[1];
  one.send('passes', out);
  await eventually('the frame', () => other.received.length > 0);
  assert.deepEqual(other.received, ['passes']);
});

test('a connection that was lost holds up no frames of the next one', { skip }, async (t) => {
  const { connections, relays } = await threeHosts(t);
  const [, atB, atC] = relays as [FrameRelay, FrameRelay, FrameRelay];
  const [one, other] = [await Tunnel.open(t), await Tunnel.open(t)];
  const outOfB = await atB.open(one.port, { host: 'c', port: other.port });
  await atC.open(other.port, { host: 'b', port: one.port });
  const published: string[] = [];
  // As a connection whose machine lost power: it never answers.
  const lost = { publish: (subject: string) => void published.push(subject), flush: () => new Promise<void>(() => {}) };
  atB.carrier = lost;
  one.send('lost', outOfB);
  await eventually('a frame on the lost connection', () => published.length > 0);
  atB.carrier = connections[1];
  const sent = Array.from({ length: 400 }, (_, index) => `${index} ${'x'.repeat(9_000)}`);
  for (const frame of sent) {
    one.send(frame, outOfB);
    await eventually('the frame', () => other.received.includes(frame));
  }
  // Closed, which the relay does not know yet.
  await connections[1]!.close();
  one.send('late', outOfB);
  await eventually('the count', () =>
    [...atB.counters.samples()].some(({ labels }) => labels?.['result'] === 'not_connected'),
  );
});
