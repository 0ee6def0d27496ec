// TCP and the round trip between two containers (network namespaces) over a link that the kernel forwards, beside a plain
// pair of virtual interfaces and the ways through the fabric. Repeat with: npm run bench -- --only kernel-links

import { Fabric, type FabricPort } from '../../src/fabric/fabric.ts';
import { changeLink, findLink, keepFromHost } from '../../src/host/network/kernel-interfaces.ts';
import { kernelLinksUnavailable } from '../../src/host/network/kernel-link-support.ts';
import { NOTHING } from '../fabric/kernel-peers.ts';
import { ip, uniqueName } from '../fabric/namespaces.ts';
import { ends } from '../fabric/peers.ts';
import { comparePaths, type Path, PLAIN, type Undo, veth } from './namespace-paths.ts';

const PORTS = 20;
const ACCESS = { type: 'access', vlan: 1, etherType: 0x8100 } as const;

async function startFabric(undo: Undo[], kernelLinks: 'automatic' | 'off'): Promise<Fabric> {
  const fabric = new Fabric({ kernelLinks });
  await fabric.start();
  undo.push(() => fabric.stop());
  return fabric;
}

/** A port at one end of a pair, whose other end gets this name. */
async function kernelPort(fabric: Fabric, inside: string, undo: Undo[]): Promise<FabricPort> {
  const outside = uniqueName();
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside);
  undo.push(() => removed(outside));
  keepFromHost(outside);
  const port = await fabric.createPort({ kind: 'packet', interface: outside, kernel: true });
  changeLink(outside, { up: true });
  return port;
}

/** Removes an interface that may have gone with its namespace. */
async function removed(name: string): Promise<void> {
  if (findLink(name) !== undefined) await ip('link', 'delete', name).catch(() => {});
}

/** Two pairs of interfaces with a cable between them. */
async function pairs(links: [string, string], undo: Undo[], kernelLinks: 'automatic' | 'off', impairments = {}) {
  const fabric = await startFabric(undo, kernelLinks);
  for (const [index, cable] of (await ends()).entries()) {
    const port = await kernelPort(fabric, links[index]!, undo);
    await port.connect(cable, impairments);
  }
  return process.pid;
}

/** Two pairs of interfaces at a switch that has {@link PORTS}, all of which have nodes. */
async function atSwitch(links: [string, string], undo: Undo[], kernelLinks: 'automatic' | 'off'): Promise<number> {
  const fabric = await startFabric(undo, kernelLinks);
  const ports = Array.from({ length: PORTS }, (_, number) => ({ number, ...ACCESS }));
  const device = await fabric.createDevice('ethernet-switch', { ports, ageing: 300_000 });
  for (const { number } of ports) {
    const inside = links[number] ?? uniqueName();
    const port = await kernelPort(fabric, inside, undo);
    const [near, far] = await ends();
    await port.connect(near);
    await (await fabric.createPort({ kind: 'memory', device, number })).connect(far);
  }
  return process.pid;
}

/** The same at a bridge of the kernel. */
async function atBridge(links: [string, string], undo: Undo[]): Promise<undefined> {
  const bridge = uniqueName();
  await ip('link', 'add', bridge, 'type', 'bridge');
  undo.push(() => ip('link', 'delete', bridge));
  changeLink(bridge, { up: true });
  for (let number = 0; number < PORTS; number++) {
    const [outside, inside] = [uniqueName(), links[number] ?? uniqueName()];
    await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside);
    undo.push(() => removed(outside));
    changeLink(outside, { up: true, bridge });
  }
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
  [`bridge of the kernel, ${PORTS} ports`]: atBridge,
  [`switch with ${PORTS} nodes, kernel links`]: (links, undo) => atSwitch(links, undo, 'automatic'),
  [`switch with ${PORTS} nodes, kernel links off`]: (links, undo) => atSwitch(links, undo, 'off'),
};

const reason = kernelLinksUnavailable();
if (reason === undefined) await comparePaths(PATHS, ['iperf3', 'ping']);
else process.stdout.write(`Skipped: ${reason}.\n`);
