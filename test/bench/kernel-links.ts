// TCP and the round trip between two containers (network namespaces) over a link that the kernel forwards, beside a plain
// pair of virtual interfaces and the ways through the fabric. Repeat with: npm run bench -- --only kernel-links

import { Fabric } from '../../src/fabric/fabric.ts';
import { changeLink, keepFromHost } from '../../src/host/network/kernel-interfaces.ts';
import { kernelLinksUnavailable } from '../../src/host/network/kernel-link-support.ts';
import { ip, uniqueName } from '../fabric/namespaces.ts';
import { ends } from '../fabric/peers.ts';
import { comparePaths, type Path, PLAIN, type Undo, veth } from './namespace-paths.ts';

/** A packet filter that matches no frame, so that the fabric forwards them. */
const NOTHING = { packetFilters: [Uint32Array.of(0x06, 0)] };

async function startFabric(undo: Undo[], kernelLinks: 'automatic' | 'off'): Promise<Fabric> {
  const fabric = new Fabric({ kernelLinks });
  await fabric.start();
  undo.push(() => fabric.stop());
  return fabric;
}

async function pairs(links: [string, string], undo: Undo[], kernelLinks: 'automatic' | 'off', impairments = {}) {
  const fabric = await startFabric(undo, kernelLinks);
  for (const [index, cable] of (await ends()).entries()) {
    const outside = uniqueName();
    await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', links[index]!);
    keepFromHost(outside);
    const port = await fabric.createPort({ kind: 'packet', interface: outside, kernel: true });
    changeLink(outside, { up: true });
    await port.connect(cable, impairments);
  }
  return process.pid;
}

async function taps(links: [string, string], undo: Undo[]): Promise<number> {
  const fabric = await startFabric(undo, 'off');
  for (const [index, cable] of (await ends()).entries()) {
    const port = await fabric.createPort({ kind: 'tap', interface: links[index]! });
    await port.connect(cable);
  }
  return process.pid;
}

const PATHS: Record<string, Path> = {
  [PLAIN]: veth,
  'kernel link': (links, undo) => pairs(links, undo, 'automatic'),
  'the same, filtered: through the fabric': (links, undo) => pairs(links, undo, 'automatic', NOTHING),
  'veth pairs, kernel links off': (links, undo) => pairs(links, undo, 'off'),
  'TAPs, kernel links off': taps,
};

const reason = kernelLinksUnavailable();
if (reason === undefined) await comparePaths(PATHS, ['iperf3', 'ping']);
else process.stdout.write(`Skipped: ${reason}.\n`);
