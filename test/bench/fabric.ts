// Frames per second and CPU time per frame through hubs and cables of the fabric, beside a plain node:dgram relay that is
// measured in the same run. Repeat with: npm run bench

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cable, Fabric, type FabricPort } from '../../src/fabric/fabric.ts';
import type { LoadOrder, LoadResult } from './fabric-load.ts';
import type { SubjectOrder } from './fabric-subject.ts';

const MILLISECONDS = 2000;
const FRAME_BYTES = 1000;
const STEADY = 20_000;
const host = '127.0.0.1';

interface Figure {
  /** Frames that arrived at peers, a second. */
  delivered: number;
  /** Microseconds of the subject's CPU time for each of them. */
  cost: number;
  /** Frames that arrived of those that should have. */
  share: number;
}

async function ask<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  const answer = once(child, 'message');
  child.send(question);
  return (await answer)[0] as Answer;
}

async function measure(
  kind: SubjectOrder['kind'],
  shape: SubjectOrder['shape'],
  size: number,
  rate: number,
  capture?: string,
): Promise<Figure> {
  const range = (first: number): number[] => Array.from({ length: size }, (_, index) => first + index);
  const [peers, ports] = [range(28_000), range(28_100)];
  const subject = fork(new URL('./fabric-subject.ts', import.meta.url));
  const load = fork(new URL('./fabric-load.ts', import.meta.url));
  try {
    await ask(subject, { kind, shape, peers, ports, hop: [28_200, 28_201], capture } satisfies SubjectOrder);
    const order: LoadOrder = { peers, targets: ports, frameBytes: FRAME_BYTES, rate, milliseconds: 300 };
    await ask(load, order);
    const before = await ask<number>(subject, 'measure');
    const { sent, received, seconds } = await ask<LoadResult>(load, { ...order, milliseconds: MILLISECONDS });
    const used = (await ask<number>(subject, 'measure')) - before;
    return { delivered: received / seconds, cost: used / received, share: received / (sent * (size - 1)) };
  } finally {
    for (const child of [subject, load]) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}

type Row = [title: string, shape: SubjectOrder['shape'], size: number, capture?: string];

const directory = mkdtempSync(join(tmpdir(), 'labwire-bench-'));

const rows: Row[] = [
  ['hub, 2 ports', 'hub', 2],
  ['hub, 2 ports, the fabric captures', 'hub', 2, join(directory, 'hub.pcap')],
  ['hub, 16 ports', 'hub', 16],
  ['cable, fused', 'fused', 2],
  ['cable, UDP hop', 'hop', 2],
];

process.stdout.write(
  `${cpus()[0]?.model}, ${cpus().length} CPUs, Node ${process.version}, frames of ${FRAME_BYTES} bytes\n\n`,
);
process.stdout.write(
  '| path | load | fabric frames/s | fabric µs/frame | dgram frames/s | dgram µs/frame | CPU ratio |\n|---|---|---|---|---|---|---|\n',
);
for (const [title, shape, size, capture] of rows) {
  for (const rate of [size === 2 ? STEADY : STEADY / 10, 0]) {
    const [fabric, dgram] = [
      await measure('fabric', shape, size, rate, capture),
      await measure('dgram', shape, size, rate),
    ];
    const cell = ({ delivered, cost, share }: Figure): string =>
      `${Math.round(delivered)}${rate > 0 && share < 0.99 ? ` (${Math.round(share * 100)} %)` : ''} | ${cost.toFixed(2)}`;
    const offered = rate === 0 ? 'flood' : `${rate}/s`;
    process.stdout.write(
      `| ${title} | ${offered} | ${cell(fabric)} | ${cell(dgram)} | ${(fabric.cost / dgram.cost).toFixed(2)} |\n`,
    );
  }
}
rmSync(directory, { recursive: true });

/** A fabric with `count` connected ports at hubs of 16, joined in pairs by fused cables. */
async function crowd(count: number, firstPort: number): Promise<{ fabric: Fabric; ports: FabricPort[] }> {
  const fabric = new Fabric();
  await fabric.start();
  const ports: FabricPort[] = [];
  let hub = await fabric.createDevice('hub', {});
  for (let index = 0; index < count; index++) {
    if (index % 16 === 0) hub = await fabric.createDevice('hub', {});
    const port = await fabric.createPort({ kind: 'memory', device: hub, number: 0 });
    await port.connect(cableOf(firstPort, index));
    ports.push(port);
  }
  return { fabric, ports };
}

function cableOf(firstPort: number, index: number): Cable {
  return { kind: 'udp', localPort: firstPort + index, remoteHost: host, remotePort: firstPort + (index ^ 1) };
}

/** Whether a connection costs more among many ports than among few, and what many ports cost at rest. */
async function manyPorts(): Promise<void> {
  const many = 4000;
  const few = await crowd(16, 9000);
  const memory = process.memoryUsage.rss();
  const full = await crowd(many, 10_000);
  const kilobytes = (process.memoryUsage.rss() - memory) / 1024 / many;
  const used = { few: 0, full: 0 };
  // In turn, so that whatever else the machine does hits both.
  for (let round = 0; round < 2000; round++) {
    for (const [name, { ports }, firstPort] of [
      ['few', few, 9000],
      ['full', full, 10_000],
    ] as const) {
      const index = round % ports.length;
      const start = performance.now();
      await ports[index]!.disconnect();
      await ports[index]!.connect(cableOf(firstPort, index));
      used[name] += (performance.now() - start) / 2000;
    }
  }
  const before = process.cpuUsage();
  await sleep(MILLISECONDS);
  const { user, system } = process.cpuUsage(before);
  await few.fabric.stop();
  await full.fabric.stop();
  process.stdout.write(
    `\nPull a cable and plug it in: ${used.few.toFixed(3)} ms among 16 ports, ${used.full.toFixed(3)} ms among ${many} ` +
      `(ratio ${(used.full / used.few).toFixed(2)}).\n` +
      `${many} connected ports: ${kilobytes.toFixed(1)} KiB each, ${((user + system) / MILLISECONDS / 10).toFixed(2)} % CPU at rest.\n`,
  );
}

await manyPorts();
