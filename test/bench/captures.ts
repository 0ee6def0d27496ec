// What 64 captures at once cost: a peer floods a hub whose 64 other ports are captured; beside as many tcpdumps on loopback.
// Repeat with: npm run bench -- --only captures

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fabric, type FabricPort } from '../../src/fabric/fabric.ts';
import type { LoadOrder, LoadResult } from './fabric-load.ts';
import { cpuMilliseconds, table } from './measure.ts';

const CAPTURES = 64;
/** Frames a second into the hub: what each capture gets. */
const RATES = [1000, 2000, 5000, 10_000];
const MILLISECONDS = 4000;
const FRAME_BYTES = 200;
const host = '127.0.0.1';
const [SENDER, RECEIVER, NEAR, FAR] = [21_900, 21_901, 21_902, 21_903];
const PEERS = [SENDER, RECEIVER].map((port) => ({ host, port }));

interface Figures {
  sent: number;
  /** By the peer at the other end of an uncaptured cable. */
  received: number;
  captured: number;
  dropped: number;
  /** Percent of a core, of the fabric or of the tcpdumps. */
  cpu: number;
}

async function load(child: ChildProcess, rate: number, through: boolean): Promise<LoadResult> {
  const answer = once(child, 'message');
  const targets = (through ? [NEAR, FAR] : [RECEIVER, SENDER]).map((port) => ({ host, port }));
  child.send({ peers: PEERS, targets, frameBytes: FRAME_BYTES, rate, milliseconds: MILLISECONDS } satisfies LoadOrder);
  return (await answer)[0] as LoadResult;
}

async function byFabric(child: ChildProcess, rate: number, directory: string | undefined): Promise<Figures> {
  const fabric = new Fabric();
  await fabric.start();
  const device = await fabric.createDevice('hub', {});
  for (const [index, localPort] of [NEAR, FAR].entries()) {
    const port = await fabric.createPort({ kind: 'memory', device, number: index });
    await port.connect({ kind: 'udp', localPort, remoteHost: host, remotePort: [SENDER, RECEIVER][index]! });
  }
  const ports: FabricPort[] = [];
  for (let index = 0; index < CAPTURES; index++) {
    const port = await fabric.createPort({ kind: 'memory', device, number: 2 + index });
    await port.connect({ kind: 'null' });
    const file = directory && join(directory, `${index}.pcap`);
    if (file !== undefined) await port.startCapture({ file, linkType: 'DLT_EN10MB' });
    ports.push(port);
  }
  const before = process.cpuUsage();
  const { sent, received, seconds } = await load(child, rate, true);
  const { user, system } = process.cpuUsage(before);
  let [captured, dropped] = [0, 0];
  for (const port of ports) {
    const { capture } = await port.statistics();
    captured += capture?.frames ?? 0;
    dropped += capture?.drops ?? 0;
  }
  await fabric.stop();
  return { sent, received, captured, dropped, cpu: (user + system) / 1e4 / seconds };
}

async function byTcpdump(child: ChildProcess, rate: number, directory: string): Promise<Figures> {
  const programs = Array.from({ length: CAPTURES }, (_, index) => {
    const options = ['-i', 'lo', '-n', '-w', join(directory, `${index}.tcpdump`), `udp dst port ${RECEIVER}`];
    const program = spawn('tcpdump', options, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    program.stderr.on('data', (text) => {
      said += text;
    });
    return { program, said: () => said };
  });
  for (const { said } of programs) while (!said().includes('listening on')) await sleep(10);
  const { sent, received, seconds } = await load(child, rate, false);
  await sleep(200);
  const cpu = programs.reduce((sum, { program }) => sum + cpuMilliseconds(program.pid!), 0);
  let [captured, dropped] = [0, 0];
  for (const { program, said } of programs) {
    const closed = once(program, 'close');
    program.kill('SIGINT');
    await closed;
    captured += Number(/(\d+) packets? captured/.exec(said())?.[1]);
    dropped += Number(/(\d+) packets? dropped by kernel/.exec(said())?.[1]);
  }
  return { sent, received, captured, dropped, cpu: cpu / 10 / seconds };
}

const seconds = MILLISECONDS / 1000;
const row = (what: string, rate: number, { sent, received, captured, dropped, cpu }: Figures): string[] => [
  what,
  String(rate),
  String(Math.round(sent / seconds)),
  String(Math.round(received / seconds)),
  captured === 0 ? '' : String(Math.round(captured / seconds)),
  captured === 0 ? '' : `${((100 * dropped) / (captured + dropped)).toFixed(1)} %`,
  `${cpu.toFixed(0)} %`,
  captured === 0 ? '' : ((cpu * 1e4 * seconds) / captured).toFixed(2),
];

const directory = await mkdtemp(join(tmpdir(), 'labwire-bench-'));
const child = fork(new URL('./fabric-load.ts', import.meta.url));
const rows = [['', 'wanted/s', 'sent/s', 'received/s', 'captured/s', 'dropped', 'CPU', 'µs a captured frame']];
try {
  for (const rate of RATES) {
    rows.push(row('hub, no capture', rate, await byFabric(child, rate, undefined)));
    rows.push(row(`hub, ${CAPTURES} captures`, rate, await byFabric(child, rate, directory)));
    rows.push(row(`loopback, ${CAPTURES} tcpdumps`, rate, await byTcpdump(child, rate, directory)));
  }
} finally {
  child.kill();
  await rm(directory, { recursive: true });
}
process.stdout.write(`${table(rows)}\n`);
process.exit(0);
