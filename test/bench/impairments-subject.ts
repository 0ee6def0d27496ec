// Child process of the impairments' benchmark: a fused cable between two peers, whose first direction is impaired as it is told.

import type { DirectionImpairments } from '../../src/api/impairments.ts';
import { type DirectionStatistics, Fabric, type FabricPort } from '../../src/fabric/fabric.ts';

const host = '127.0.0.1';

export interface SubjectAddresses {
  /** UDP ports of the peers. */
  peers: [number, number];
  /** The subject's UDP ports, towards the peer with the same index. */
  ports: [number, number];
  /** UDP ports of the cable's ends. */
  hop: [number, number];
}

let first: FabricPort | undefined;

async function start({ peers, ports, hop }: SubjectAddresses): Promise<void> {
  const fabric = new Fabric();
  await fabric.start();
  for (const index of [0, 1] as const) {
    const device = { kind: 'udp', localPort: ports[index], remoteHost: host, remotePort: peers[index] } as const;
    const port = await fabric.createPort(device);
    await port.connect({ kind: 'udp', localPort: hop[index], remoteHost: host, remotePort: hop[index === 0 ? 1 : 0] });
    first ??= port;
  }
}

export interface SubjectState {
  /** Microseconds of CPU time that this process has used. */
  used: number;
  seen: DirectionStatistics;
}

process.on('message', async (message: SubjectAddresses | { impairments: DirectionImpairments } | 'state') => {
  if (message === 'state') {
    const { user, system } = process.cpuUsage();
    process.send!({ used: user + system, seen: (await first!.cableStatistics()).outgoing } satisfies SubjectState);
    return;
  }
  if ('impairments' in message) {
    await first!.impairDirections({ outgoing: message.impairments, incoming: {} });
    await first!.resetStatistics();
  } else await start(message);
  process.send!('done');
});
