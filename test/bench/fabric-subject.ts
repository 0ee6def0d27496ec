// Child process of the fabric benchmark: a hub or a cable between peers, by the fabric or by what stands beside it.

import { createSocket, type Socket } from 'node:dgram';
import { Fabric } from '../../src/fabric/fabric.ts';

export interface SubjectOrder {
  kind: 'fabric' | 'dgram';
  /** A hub floods to all peers; a cable joins two devices, with or without the UDP hop between its ends. */
  shape: 'hub' | 'fused' | 'hop';
  /** UDP ports of the peers. */
  peers: number[];
  /** The subject's UDP ports, towards the peer with the same index. */
  ports: number[];
  /** Two more UDP ports for the hop between the ends of a cable. */
  hop: [number, number];
  /** File for a capture at the second port of a hub of the fabric. */
  capture?: string | undefined;
}

const host = '127.0.0.1';

async function fabricHub({ peers, ports, capture }: SubjectOrder): Promise<void> {
  const fabric = new Fabric();
  await fabric.start();
  const hub = await fabric.createDevice('hub', {});
  for (const [index, localPort] of ports.entries()) {
    const port = await fabric.createPort({ kind: 'memory', device: hub, number: 0 });
    await port.connect({ kind: 'udp', localPort, remoteHost: host, remotePort: peers[index]! });
    if (capture !== undefined && index === 1) await port.startCapture({ file: capture, linkType: 'DLT_EN10MB' });
  }
}

async function fabricCable({ shape, peers, ports, hop }: SubjectOrder): Promise<void> {
  const near = new Fabric();
  await near.start();
  // Two fabrics know nothing of each other: the cable between them is not fused.
  const far = shape === 'fused' ? near : new Fabric();
  if (far !== near) await far.start();
  for (const [index, fabric] of [near, far].entries()) {
    const device = { kind: 'udp', localPort: ports[index]!, remoteHost: host, remotePort: peers[index]! } as const;
    const port = await fabric.createPort(device);
    await port.connect({ kind: 'udp', localPort: hop[index]!, remoteHost: host, remotePort: hop[1 - index]! });
  }
}

async function open(port: number, peer: number): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  await new Promise<void>((resolve) => socket.bind(port, host, resolve));
  await new Promise<void>((resolve) => socket.connect(peer, host, resolve));
  socket.on('error', () => {});
  return socket;
}

async function dgramHub({ peers, ports }: SubjectOrder): Promise<void> {
  const sockets = await Promise.all(ports.map((port, index) => open(port, peers[index]!)));
  for (const from of sockets) {
    from.on('message', (frame) => {
      for (const to of sockets) if (to !== from) to.send(frame);
    });
  }
}

async function dgramCable({ peers, ports, hop }: SubjectOrder): Promise<void> {
  for (const index of [0, 1]) {
    const device = await open(ports[index]!, peers[index]!);
    const cable = await open(hop[index]!, hop[1 - index]!);
    device.on('message', (frame) => cable.send(frame));
    cable.on('message', (frame) => device.send(frame));
  }
}

process.on('message', async (message: SubjectOrder | 'measure') => {
  if (message === 'measure') {
    const { user, system } = process.cpuUsage();
    process.send!(user + system);
    return;
  }
  const subjects = { fabric: [fabricHub, fabricCable], dgram: [dgramHub, dgramCable] } as const;
  await subjects[message.kind][message.shape === 'hub' ? 0 : 1](message);
  process.send!('ready');
});
