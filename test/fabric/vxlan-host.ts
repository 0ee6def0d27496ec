// One of the hosts of `joinHosts`: a container's interface with a link to the other host. Run in the network namespace of
// the host; the container's end of the interface is made in that of another process.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fabric } from '../../src/fabric/fabric.ts';
import { keepFromHost } from '../../src/host/network/interface-programs.ts';
import { shortHash, tunnelName } from '../../src/host/network/interfaces.ts';
import { changeLink, MOST_MTU_BYTES } from '../../src/host/network/kernel-interfaces.ts';
import { NodeNetwork } from '../../src/host/network/node-network.ts';
import { VxlanLinks } from '../../src/host/network/vxlan-links.ts';
import { inNetworkOf } from '../../src/host/system-calls.ts';
import { ip } from './namespaces.ts';

const [inside = '', owner = '', remoteHost = '', way] = process.argv.slice(2);
const OUTSIDE = 'outside';
const UDP_PORT = 20_000;
const VXLAN_PORT = 14_789;

const directory = mkdtempSync(join(tmpdir(), 'labwire-bench-'));
const network = new NodeNetwork(directory, 'bench', true);
const fabric = new Fabric({ kernelLinks: way === 'fabric' ? 'off' : 'automatic' });
const links = new VxlanLinks(network, VXLAN_PORT);

async function end(): Promise<void> {
  links.stop();
  await fabric.stop();
  network.close();
  rmSync(directory, { recursive: true });
  process.exit();
}
process.on('SIGTERM', () => void end());
process.stdin.on('end', () => void end()).resume();

await fabric.start();
const keeper = network.open();
if (keeper === undefined) throw new Error('no network namespace of nodes');
await ip('link', 'add', OUTSIDE, 'netns', `${keeper}`, 'type', 'veth', 'peer', 'name', inside, 'netns', owner);
inNetworkOf(keeper, () => keepFromHost(OUTSIDE));
const port = await fabric.createPort({ kind: 'packet', interface: OUTSIDE, kernel: true, process: keeper });
// As the server does for containers: a frame longer than its MTU, which is no super-frame, ends in front of it.
inNetworkOf(keeper, () => changeLink(OUTSIDE, { mtu: MOST_MTU_BYTES, up: true }));
const udp = { kind: 'udp', localPort: UDP_PORT, remoteHost, remotePort: UDP_PORT } as const;
if (way === 'udp') await port.connect(udp);
else {
  const name = tunnelName(shortHash('bench'));
  const { promise: isUsed, resolve } = Promise.withResolvers<void>();
  const link = { vni: 1, host: remoteHost, used: () => resolve(), fragmented: () => {} };
  const tunnel = await links.add(name, 'bench', link);
  const via = { interface: name, kernel: true, process: tunnel };
  await port.connect({ ...udp, via });
  await isUsed;
  await port.useVia(true);
  const { path } = await port.statistics();
  if (path.by !== (way === 'vxlan' ? 'kernel' : way))
    throw new Error(`the link goes by the ${path.by}: ${path.reason}`);
}
process.stdout.write('ready\n');
