// TCP and the round trip between two containers (network namespaces) over a link that the kernel forwards, beside a plain
// pair of virtual interfaces and the ways through the fabric; the same over links between two hosts, by VXLAN and by UDP; and
// how long many links take to make and to remove.
// Repeat with: npm run bench -- --only kernel-links

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fabric, type FabricPort } from '../../src/fabric/fabric.ts';
import { giveInterfaces, hostEndOf } from '../../src/host/network/container-interfaces.ts';
import { keepFromHost } from '../../src/host/network/interface-programs.ts';
import { changeLink, findLink, links } from '../../src/host/network/kernel-interfaces.ts';
import { NodeNetwork, nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import { inNetworkOf } from '../../src/host/system-calls.ts';
import { NOTHING } from '../fabric/kernel-peers.ts';
import { ip, uniqueName } from '../fabric/namespaces.ts';
import { ends } from '../fabric/peers.ts';
import { joinHosts } from '../fabric/vxlan-hosts.ts';
import { isShort, median, table } from './measure.ts';
import { comparePaths, type Path, PLAIN, type Undo, veth } from './namespace-paths.ts';

const PORTS = 20;
const LINKS = isShort ? 50 : 500;
const ROUNDS = isShort ? 1 : 3;
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
function pairs(kernelLinks: 'automatic' | 'off', impairments = {}): Path {
  return async (links, undo, adopt) => {
    const fabric = await startFabric(undo, kernelLinks);
    const ports: FabricPort[] = [];
    for (const inside of links) ports.push(await kernelPort(fabric, inside, undo));
    await adopt();
    for (const [index, cable] of (await ends()).entries()) await ports[index]!.connect(cable, impairments);
    return process.pid;
  };
}

/** Two pairs of interfaces at a switch that has {@link PORTS}, all of which have nodes. */
function atSwitch(kernelLinks: 'automatic' | 'off'): Path {
  return async (links, undo, adopt) => {
    const fabric = await startFabric(undo, kernelLinks);
    const numbers = Array.from({ length: PORTS }, (_, number) => number);
    const settings = numbers.map((number) => ({ number, ...ACCESS }));
    const device = await fabric.createDevice('ethernet-switch', { ports: settings, ageing: 300_000 });
    const ports: FabricPort[] = [];
    for (const number of numbers) ports.push(await kernelPort(fabric, links[number] ?? uniqueName(), undo));
    await adopt();
    for (const number of numbers) {
      const [near, far] = await ends();
      await ports[number]!.connect(near);
      await (await fabric.createPort({ kind: 'memory', device, number })).connect(far);
    }
    return process.pid;
  };
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

/** A link between containers of two hosts. */
async function hosts(links: [string, string], undo: Undo[], way: 'vxlan' | 'udp', mtu: number): Promise<number[]> {
  return (await joinHosts({ after: (step: Undo) => undo.push(step) }, links, { way, mtu })).servers;
}

const PATHS: Record<string, Path> = {
  [PLAIN]: veth,
  'kernel link': pairs('automatic'),
  'the same, filtered: through the fabric': pairs('automatic', NOTHING),
  'veth pairs, kernel links off': pairs('off'),
  'TAPs, kernel links off': taps,
  [`bridge of the kernel, ${PORTS} ports`]: atBridge,
  [`switch with ${PORTS} nodes, kernel links`]: atSwitch('automatic'),
  [`switch with ${PORTS} nodes, kernel links off`]: atSwitch('off'),
  ...Object.fromEntries(
    [1600, 1500].flatMap((mtu) => [
      [`two hosts, MTU ${mtu} between them: VXLAN`, (links, undo) => hosts(links, undo, 'vxlan', mtu)] as [
        string,
        Path,
      ],
      [`two hosts, MTU ${mtu} between them: UDP`, (links, undo) => hosts(links, undo, 'udp', mtu)],
    ]),
  ),
};

/** Milliseconds that {@link LINKS} between interfaces of a container take to be made, and to be removed completely. */
async function makeLinks(): Promise<[number, number]> {
  const undo: Undo[] = [];
  try {
    const directory = mkdtempSync(join(tmpdir(), 'labwire-bench-'));
    undo.push(async () => rmSync(directory, { recursive: true }));
    const network = new NodeNetwork(directory, 'bench', true);
    undo.push(async () => network.close());
    const keeper = network.open();
    const fabric = await startFabric(undo, 'automatic');
    const container = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' });
    undo.push(async () => container.kill('SIGKILL'));
    const isApart = (): boolean => {
      try {
        return inNetworkOf(container.pid!, () => true);
      } catch {
        return false;
      }
    };
    while (!isApart()) await sleep(10);
    const adapters = Array.from({ length: 2 * LINKS }, (_none, adapter) => adapter);
    const interfaces = adapters.map((adapter) => {
      const [high, low] = [adapter >> 8, adapter & 0xff].map((byte) => byte.toString(16).padStart(2, '0'));
      return { name: `eth${adapter}`, macAddress: `02:00:00:00:${high}:${low}` };
    });

    let began = performance.now();
    giveInterfaces(container.pid!, interfaces, 'pair', keeper);
    const ports: FabricPort[] = [];
    for (const adapter of adapters) {
      const end = hostEndOf(container.pid!, adapter);
      const port = await fabric.createPort({ kind: 'packet', interface: end, kernel: true, process: keeper });
      inNetworkOf(keeper!, () => changeLink(end, { up: true }));
      ports.push(port);
    }
    for (let adapter = 0; adapter < ports.length; adapter += 2)
      for (const [place, cable] of (await ends()).entries()) await ports[adapter + place]!.connect(cable);
    const made = performance.now() - began;
    for (const port of ports) {
      const { path } = await port.statistics();
      if (path.by !== 'kernel') throw new Error(`the kernel does not forward a link: ${path.reason}`);
    }

    began = performance.now();
    for (const port of ports) await port.close();
    container.kill('SIGKILL');
    const left = () => inNetworkOf(keeper!, () => links().filter(({ name }) => name !== 'lo').length);
    while (left() > 0) await sleep(20);
    return [made, performance.now() - began];
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

const reason = nodeNetworkUnavailable();
if (reason === undefined) {
  await comparePaths(PATHS, ['iperf3', 'ping']);
  const rounds: [number, number][] = [];
  while (rounds.length < ROUNDS) rounds.push(await makeLinks());
  const row = [0, 1].map((step) => {
    const seconds = rounds.map((round) => round[step]! / 1000);
    return `${median(seconds).toFixed(1)} (${seconds.map((each) => each.toFixed(1)).join(', ')})`;
  });
  process.stdout.write(
    `\n${table([
      [`${LINKS} kernel links`, 'made, s', 'removed, s'],
      ['each round', ...row],
    ])}\n`,
  );
} else process.stdout.write(`Skipped: ${reason}.\n`);
