// A fabric with two labs, in a process that the test kills: takes the nodes' interfaces over, turns the first lab's way
// to the fabric and back, and prints that it is done.
// switch-over.ts <process of the interfaces' network> cable|switch <four interfaces>

import { Fabric, type FabricPort } from '../../src/fabric/fabric.ts';
import { NOTHING } from './kernel-peers.ts';
import { ends } from './peers.ts';

const [, , keeper = '', by = '', ...links] = process.argv;

const fabric = new Fabric({ kernelLinks: 'automatic', threads: 1 });
await fabric.start();
const nodes: FabricPort[] = [];
for (const link of links)
  nodes.push(await fabric.createPort({ kind: 'packet', interface: link, kernel: true, process: Number(keeper) }));
const [a, b, c, d] = nodes as [FabricPort, FabricPort, FabricPort, FabricPort];

async function cable(one: FabricPort, other: FabricPort): Promise<void> {
  const [near, far] = await ends();
  await one.connect(near);
  await other.connect(far);
}

await cable(c, d);
if (by === 'cable') await cable(a, b);
else {
  const ports = [0, 1].map((number) => ({ number, type: 'access', vlan: 1, etherType: 0x8100 }) as const);
  const device = await fabric.createDevice('ethernet-switch', { ports, ageing: 300_000 });
  for (const [number, node] of [a, b].entries())
    await cable(node, await fabric.createPort({ kind: 'memory', device, number }));
  // Until both addresses are in the kernel's map.
  while ((await device.ask('macTable')).length < 2) await a.statistics();
}
await a.impair(NOTHING);
await a.impair({});
await a.statistics();
process.stdout.write('done');
process.kill(process.pid, 'SIGKILL');
