// TCP between two containers (network namespaces): through a cable of the fabric, beside a plain pair of virtual interfaces and
// beside a program that does nothing but copy frames between two TAPs. Repeat with: npm run bench -- --only containers

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Fabric } from '../../src/fabric/fabric.ts';
import { findLink } from '../../src/host/network/kernel-interfaces.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { cannotMakeInterfaces, ip, Namespace, uniqueName } from '../fabric/namespaces.ts';
import { ends } from '../fabric/peers.ts';
import { cpuMilliseconds, median, table } from './measure.ts';

const run = promisify(execFile);
const ROUNDS = 3;
const SECONDS = 3;

type Undo = () => Promise<unknown>;

/** Makes two interfaces whose frames reach each other, and tells which process moves them. */
type Path = (links: [string, string], undo: Undo[]) => Promise<number | undefined>;

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
  'plain veth pair': async (links) => {
    await ip('link', 'add', links[0], 'type', 'veth', 'peer', 'name', links[1]);
    return undefined;
  },
  'fabric, fused cable': (links, undo) => tapPorts(links, undo, true, false),
  'fabric, fused cable, captured': (links, undo) => tapPorts(links, undo, true, true),
  'fabric, UDP cable': (links, undo) => tapPorts(links, undo, false, false),
  'socat, TAP to TAP': socat,
};

interface Figure {
  gigabits: number;
  /** CPU of the process that moves the frames, in cores. */
  cores: number | undefined;
}

async function measure(path: Path): Promise<Figure> {
  const undo: Undo[] = [];
  const bench = { after: (step: Undo) => undo.push(step) };
  try {
    const links: [string, string] = [uniqueName(), uniqueName()];
    const pid = await path(links, undo);
    const [from, to] = [await Namespace.create(bench), await Namespace.create(bench)];
    await from.adopt(links[0], '10.96.0.1/24');
    await to.adopt(links[1], '10.96.0.2/24');
    await from.run('ping', '-c', '1', '-W', '5', '10.96.0.2');
    const server = spawn('ip', ['netns', 'exec', to.name, 'iperf3', '-s', '-1'], { stdio: 'ignore' });
    undo.push(async () => server.kill('SIGKILL'));
    while (!(await to.run('ss', '-Hltn', 'sport = :5201')).includes('5201')) await sleep(20);
    const before = pid === undefined ? 0 : cpuMilliseconds(pid);
    const { stdout } = await run('ip', [
      'netns',
      'exec',
      from.name,
      'iperf3',
      '-c',
      '10.96.0.2',
      '-J',
      '-t',
      `${SECONDS}`,
    ]);
    const used = pid === undefined ? undefined : cpuMilliseconds(pid) - before;
    const { end } = JSON.parse(stdout);
    return {
      gigabits: end.sum_received.bits_per_second / 1e9,
      cores: used === undefined ? undefined : used / 1000 / end.sum_received.seconds,
    };
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

const wanted = ['iperf3', 'socat', 'ping'];
const found = await Promise.all(wanted.map((program) => findProgram(program)));
const missing = wanted.filter((_, index) => found[index] === undefined);
if (cannotMakeInterfaces !== false) {
  process.stdout.write(`Skipped: ${cannotMakeInterfaces}.\n`);
} else if (missing.length > 0) {
  const install = 'apt-get install --no-install-recommends iperf3 socat iputils-ping';
  process.stdout.write(`Skipped: ${missing.join(', ')} not installed (Debian: ${install}).\n`);
} else {
  process.stdout.write(`${cpus()[0]?.model}, ${cpus().length} CPUs, Node ${process.version}, median of ${ROUNDS}\n\n`);
  const figures = new Map<string, Figure[]>(Object.keys(PATHS).map((title) => [title, []]));
  // In turn, so that whatever else the machine does hits all.
  for (let round = 0; round < ROUNDS; round++)
    for (const [title, path] of Object.entries(PATHS)) figures.get(title)!.push(await measure(path));
  const plain = median(figures.get('plain veth pair')!.map(({ gigabits }) => gigabits));
  const rows = [...figures].map(([title, all]) => {
    const gigabits = median(all.map((figure) => figure.gigabits));
    const spread = all.map((figure) => figure.gigabits.toFixed(2)).join(', ');
    const cores = all.map((figure) => figure.cores).filter((value) => value !== undefined);
    const cpu = cores.length === 0 ? '' : median(cores);
    const perGigabyte = cpu === '' ? '' : ((cpu / gigabits) * 8).toFixed(2);
    return [
      title,
      `${gigabits.toFixed(2)} (${spread})`,
      (gigabits / plain).toFixed(2),
      cpu === '' ? '' : cpu.toFixed(2),
      perGigabyte,
    ];
  });
  const head = ['path', 'Gbit/s (each run)', 'ratio to veth', 'cores of its process', 'CPU seconds/GB'];
  process.stdout.write(`${table([head, ...rows])}\n`);
}
