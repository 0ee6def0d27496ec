// What the tests plug into the fabric: real UDP sockets on the loopback interface.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import {
  type Cable,
  type DeviceKind,
  Fabric,
  type FabricPort,
  type MemoryDevice,
  type PortStatistics,
} from '../../src/fabric/fabric.ts';
import { eventually } from '../eventually.ts';

/** A fabric that is stopped when the test ends. */
export async function startFabric(t: TestContext): Promise<Fabric> {
  // The same tests run on both ways of frames: see frame-loop.test.ts.
  const fabric = new Fabric({ frameLoop: process.env['LABWIRE_TEST_FRAME_LOOP'] === 'off' ? 'off' : 'automatic' });
  await fabric.start();
  t.after(() => fabric.stop());
  return fabric;
}

/** Waits until `what` answers something true, and gives it. */
export async function until<Answer>(what: () => Promise<Answer | false>): Promise<Answer> {
  return (await eventually('what the test needs', what, (answer) => answer !== false, 20_000)) as Answer;
}

/** Waits until the port's statistics are as wanted. */
export async function settled(
  port: FabricPort,
  wanted: (statistics: PortStatistics) => boolean,
): Promise<PortStatistics> {
  return await until(async () => {
    const statistics = await port.statistics();
    return wanted(statistics) && statistics;
  });
}

/** Waits until no more frames go to the port's cable. */
export async function quiet(port: FabricPort): Promise<void> {
  let before = -1;
  await settled(port, ({ toCable }) => {
    const same = toCable.frames === before;
    before = toCable.frames;
    return same;
  });
}

const given = new Set<number>();

/** A UDP port that nobody uses, and that was not given before. */
export async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0);
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}

/** A program that speaks UDP with a port of the fabric. */
export class Peer {
  readonly port: number;
  /** Everything heard and not yet taken. */
  readonly heard: Buffer[] = [];
  readonly #socket: Socket;
  readonly #host: string;
  #released = false;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    this.port = socket.address().port;
    socket.on('message', (frame) => this.heard.push(frame));
  }

  static async open(t: TestContext, { host = '127.0.0.1', port = 0 } = {}): Promise<Peer> {
    const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 1 << 20 });
    socket.bind(port || (await freePort()), host);
    await once(socket, 'listening');
    const peer = new Peer(socket, host);
    t.after(() => peer.release());
    return peer;
  }

  async send(port: number, ...frames: (Buffer | string)[]): Promise<void> {
    for (const frame of frames) await new Promise((resolve) => this.#socket.send(frame, port, this.#host, resolve));
  }

  /** Leaves the port to somebody else. */
  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  /** Waits for `count` frames and takes them. */
  async take(count: number): Promise<Buffer[]> {
    await until(async () => this.heard.length >= count);
    return this.heard.splice(0, count);
  }

  /** Waits for `count` frames and takes them, as text. */
  async takeText(count = 1): Promise<string[]> {
    return (await this.take(count)).map(String);
  }
}

/** A peer, and the cable that leads from a fabric's port to it. */
export async function peerWithCable(t: TestContext): Promise<{ peer: Peer; cable: Cable & { kind: 'udp' } }> {
  const peer = await Peer.open(t);
  return { peer, cable: { kind: 'udp', localPort: await freePort(), remoteHost: '127.0.0.1', remotePort: peer.port } };
}

/** Addresses of the two ends of a cable within this host. */
export async function ends(): Promise<[Cable & { kind: 'udp' }, Cable & { kind: 'udp' }]> {
  const [near, far] = [await freePort(), await freePort()];
  const remoteHost = '127.0.0.1';
  return [
    { kind: 'udp', localPort: near, remoteHost, remotePort: far },
    { kind: 'udp', localPort: far, remoteHost, remotePort: near },
  ];
}

/** A port of a device in memory, connected to a peer. */
export async function devicePort(
  t: TestContext,
  fabric: Fabric,
  device: MemoryDevice<DeviceKind>,
  number: number,
): Promise<{ peer: Peer; port: FabricPort; localPort: number }> {
  const { peer, cable } = await peerWithCable(t);
  const port = await fabric.createPort({ kind: 'memory', device, number });
  await port.connect(cable);
  return { peer, port, localPort: cable.localPort };
}

/** A hub's port that is connected to a peer. */
export function hubPort(t: TestContext, fabric: Fabric, hub: MemoryDevice<'hub'>): ReturnType<typeof devicePort> {
  return devicePort(t, fabric, hub, 0);
}

/** An emulator, the port that it is the device of, and the UDP port to which it sends. */
export async function emulatorPort(
  t: TestContext,
  fabric: Fabric,
): Promise<{ emulator: Peer; port: FabricPort; localPort: number }> {
  const { peer: emulator, cable: device } = await peerWithCable(t);
  return { emulator, port: await fabric.createPort(device), localPort: device.localPort };
}
