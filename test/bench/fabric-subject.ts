// Child process of the fabric benchmark: what lies between the peers, by the fabric or by what stands beside it.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fabric } from '../../src/fabric/fabric.ts';
import { cpuMilliseconds } from './measure.ts';

export interface SubjectOrder {
  /**
   * The fabric's: a hub floods to all peers; a switch has four of them in each VLAN; a cable joins two devices, with or without the UDP hop between its ends.
   * Beside it: `relay` and `relays` are one process a cable and one at each end of it, by socat; `nothing` is no subject at all.
   */
  shape: 'hub' | 'switch' | 'fused' | 'hop' | 'relay' | 'relays' | 'nothing';
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
const relays: ChildProcess[] = [];

/** The VLAN of a switch's port. */
function vlanOf(number: number): number {
  return 10 + Math.floor(number / 4);
}

async function device({ shape, peers, ports, capture }: SubjectOrder): Promise<void> {
  const fabric = new Fabric();
  await fabric.start();
  const settings = ports.map(
    (_, number) => ({ number, type: 'access', vlan: vlanOf(number), etherType: 0x8100 }) as const,
  );
  const device =
    shape === 'hub'
      ? await fabric.createDevice('hub', {})
      : await fabric.createDevice('ethernet-switch', { ports: settings, ageing: 300_000 });
  for (const [index, localPort] of ports.entries()) {
    const port = await fabric.createPort({ kind: 'memory', device, number: index });
    await port.connect({ kind: 'udp', localPort, remoteHost: host, remotePort: peers[index]! });
    if (capture !== undefined && index === 1) await port.startCapture({ file: capture, linkType: 'DLT_EN10MB' });
  }
}

async function cable({ shape, peers, ports, hop }: SubjectOrder): Promise<void> {
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

/** Whether a UDP port is bound on this host. */
function bound(port: number): boolean {
  return readFileSync('/proc/net/udp', 'latin1').includes(`:${port.toString(16).toUpperCase().padStart(4, '0')} `);
}

/** One process that takes packets of either side to the other. */
async function relay([near, nearPeer]: [number, number], [far, farPeer]: [number, number]): Promise<void> {
  const side = (own: number, peer: number): string => `UDP4-DATAGRAM:${host}:${peer},bind=${host}:${own}`;
  relays.push(spawn('socat', ['-b', '65536', side(near, nearPeer), side(far, farPeer)], { stdio: 'ignore' }));
  while (!bound(near) || !bound(far)) await sleep(5);
}

const subjects: Record<SubjectOrder['shape'], (order: SubjectOrder) => Promise<void>> = {
  hub: device,
  switch: device,
  fused: cable,
  hop: cable,
  relay: ({ peers: [a, b], ports: [near, far] }) => relay([near!, a!], [far!, b!]),
  relays: async ({ peers: [a, b], ports: [near, far], hop: [left, right] }) => {
    await relay([near!, a!], [left, right]);
    await relay([right, left], [far!, b!]);
  },
  nothing: async () => {},
};

/** Microseconds of CPU time that the subject has used. */
function used(): number {
  if (relays.length > 0) return relays.reduce((sum, { pid }) => sum + cpuMilliseconds(pid!) * 1000, 0);
  const { user, system } = process.cpuUsage();
  return user + system;
}

process.on('message', async (message: SubjectOrder | 'measure' | 'end') => {
  if (message === 'measure') {
    process.send!(used());
  } else if (message === 'end') {
    for (const child of relays) child.kill('SIGKILL');
    process.exit();
  } else {
    await subjects[message.shape](message);
    process.send!('ready');
  }
});
