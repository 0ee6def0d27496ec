// Child process of the bench of single frames: one fabric with a cable, a hub and a switch, each between two peers.

import { Fabric } from '../../src/fabric/fabric.ts';

export interface RestOrder {
  frameLoop: 'automatic' | 'off';
  ways: { shape: 'cable' | 'hub' | 'switch'; peers: [number, number]; ports: [number, number] }[];
  /** UDP ports for the ends of cables. */
  firstCablePort: number;
}

const remoteHost = '127.0.0.1';

process.on('message', async ({ frameLoop, ways, firstCablePort }: RestOrder) => {
  let cablePort = firstCablePort;
  const fabric = new Fabric({ frameLoop });
  await fabric.start();
  for (const { shape, peers, ports } of ways) {
    // As in a lab: the programs' ports lead to each other, or each to a port of the device.
    const programs = await Promise.all(
      ports.map((localPort, end) => fabric.createPort({ kind: 'udp', localPort, remoteHost, remotePort: peers[end]! })),
    );
    const join = async (...ends: [(typeof programs)[number], (typeof programs)[number]]): Promise<void> => {
      const [near, far] = [cablePort++, cablePort++];
      await ends[0].connect({ kind: 'udp', localPort: near, remoteHost, remotePort: far });
      await ends[1].connect({ kind: 'udp', localPort: far, remoteHost, remotePort: near });
    };
    if (shape === 'cable') {
      await join(programs[0]!, programs[1]!);
      continue;
    }
    const device =
      shape === 'hub'
        ? await fabric.createDevice('hub', {})
        : await fabric.createDevice('ethernet-switch', { ports: [], ageing: 300_000 });
    for (const [number, program] of programs.entries())
      await join(program, await fabric.createPort({ kind: 'memory', device, number }));
  }
  process.send!(fabric.withoutLoop ?? 'native');
});

process.on('disconnect', () => process.exit());
