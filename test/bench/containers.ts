// TCP between two containers (network namespaces): through a cable of the fabric, beside a plain pair of virtual interfaces and
// beside a program that does nothing but copy frames between two TAPs. Repeat with: npm run bench -- --only containers

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fabric } from '../../src/fabric/fabric.ts';
import { findLink } from '../../src/host/network/kernel-interfaces.ts';
import { ends } from '../fabric/peers.ts';
import { comparePaths, type Path, PLAIN, type Undo, veth } from './namespace-paths.ts';

async function tapPorts(links: [string, string], undo: Undo[], fused: boolean, capture: boolean): Promise<number> {
  const near = new Fabric();
  const far = fused ? near : new Fabric();
  for (const fabric of new Set([near, far])) {
    await fabric.start();
    undo.push(() => fabric.stop());
  }
  for (const [index, cable] of (await ends()).entries()) {
    const port = await [near, far][index]!.createPort({ kind: 'tap', interface: links[index]! });
    await port.connect(cable);
    if (!capture || index === 1) continue;
    const directory = await mkdtemp(join(tmpdir(), 'labwire-bench-'));
    await port.startCapture({ file: join(directory, 'flow.pcap'), linkType: 'DLT_EN10MB' });
    undo.unshift(() => rm(directory, { recursive: true }));
  }
  return process.pid;
}

async function socat(links: [string, string], undo: Undo[]): Promise<number> {
  const tap = (name: string): string => `TUN,tun-type=tap,iff-no-pi,tun-name=${name}`;
  const child: ChildProcess = spawn('socat', ['-b', '65536', ...links.map(tap)], { stdio: 'ignore' });
  undo.push(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null) await once(child, 'exit');
  });
  while (!links.every((link) => findLink(link) !== undefined)) await sleep(10);
  return child.pid!;
}

const PATHS: Record<string, Path> = {
  [PLAIN]: veth,
  'fabric, fused cable': (links, undo) => tapPorts(links, undo, true, false),
  'fabric, fused cable, captured': (links, undo) => tapPorts(links, undo, true, true),
  'fabric, UDP cable': (links, undo) => tapPorts(links, undo, false, false),
  'socat, TAP to TAP': socat,
};

await comparePaths(PATHS, ['iperf3', 'socat', 'ping']);
