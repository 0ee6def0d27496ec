// Frames per second, CPU time per frame and round trips through cables, hubs and switches of the fabric; in the same run, in
// turn with them, through what others would use: a relay process (socat) for each cable, and the kernel's bridge.
// Repeat with: npm run bench -- --only fabric [--svg docs/fabric.svg]

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missing } from '../system/lab.ts';
import { makeBridge } from './fabric-bridge.ts';
import { manyPorts } from './fabric-crowd.ts';
import type { LoadOrder, LoadResult, PeerAddress } from './fabric-load.ts';
import { picture } from './fabric-picture.ts';
import type { SubjectOrder } from './fabric-subject.ts';
import { median, table } from './measure.ts';

const ROUNDS = 5;
const MILLISECONDS = 1000;
const FRAME_BYTES = 1000;
const STEADY = 20_000;
const host = '127.0.0.1';

/** What is measured, round after round. */
export interface Path {
  title: string;
  shape: SubjectOrder['shape'];
  size: number;
  capture?: string;
  /** Hosts whose frames reach each other by the kernel alone. */
  hosts?: [PeerAddress, PeerAddress];
}

/** Of one round, or the medians of all. Frames are counted where they arrive, times are in microseconds. */
export interface Figures {
  /** Frames a second when more are offered than anybody can move. */
  flood: number;
  /** CPU time of the subject for each of those. */
  floodCost: number;
  /** The same with those who send and receive: the whole way from program to program. */
  floodWhole: number;
  /** CPU time of the subject for each frame of a steady stream. */
  steadyCost: number;
  steadyWhole: number;
  /** Frames that arrived of that stream. */
  steadyShare: number;
  /** One small frame there and one back. */
  trip: number;
}

/** UDP ports of this run, below those that the kernel gives to clients. */
const FIRST_PORT = 28_000 + (process.pid % 20) * 200;

async function ask<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  const over = new AbortController();
  const answer = once(child, 'message', over);
  const end = once(child, 'exit', over).then(() => Promise.reject(new Error('a process of the benchmark has ended')));
  child.send(question);
  try {
    const [message] = await Promise.race([answer, end]);
    return message as Answer;
  } finally {
    over.abort();
    end.catch(() => {});
    answer.catch(() => {});
  }
}

async function measure({ shape, size, capture, hosts }: Path): Promise<Figures> {
  const range = (first: number): number[] => Array.from({ length: size }, (_, index) => first + index);
  const [peers, ports] = [range(FIRST_PORT), range(FIRST_PORT + 50)];
  const subject = fork(new URL('./fabric-subject.ts', import.meta.url));
  const load = fork(new URL('./fabric-load.ts', import.meta.url));
  try {
    await ask(subject, {
      shape,
      peers,
      ports,
      hop: [FIRST_PORT + 100, FIRST_PORT + 101],
      capture,
    } satisfies SubjectOrder);
    const local = (port: number): PeerAddress => ({ host, port });
    const ends = hosts ?? peers.map(local);
    const targets = shape === 'nothing' ? ends.toReversed() : ports.map(local);
    const run = async (rate: LoadOrder['rate'], frameBytes: number, milliseconds: number) => {
      const before = await ask<number>(subject, 'measure');
      const order: LoadOrder = { peers: ends, targets, frameBytes, rate, milliseconds };
      const result = await ask<LoadResult>(load, order);
      const cost = ((await ask<number>(subject, 'measure')) - before) / result.received;
      return { ...result, cost, whole: cost + result.used / result.received };
    };
    await run(0, FRAME_BYTES, 300);
    const flood = await run(0, FRAME_BYTES, MILLISECONDS);
    const listeners = shape === 'hub' ? size - 1 : 1;
    const steady = await run(listeners === 1 ? STEADY : STEADY / 10, FRAME_BYTES, MILLISECONDS);
    const { trip } = await run('trips', 64, MILLISECONDS / 2);
    return {
      flood: flood.received / flood.seconds,
      floodCost: flood.cost,
      floodWhole: flood.whole,
      steadyCost: steady.cost,
      steadyWhole: steady.whole,
      steadyShare: steady.received / (steady.sent * listeners),
      trip,
    };
  } finally {
    subject.send('end');
    load.kill('SIGKILL');
    for (const child of [subject, load])
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

const { values: options } = parseArgs({ options: { svg: { type: 'string' } } });
const directory = mkdtempSync(join(tmpdir(), 'labwire-bench-'));
const ending = new DisposableStack();
process.on('exit', () => ending.dispose());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
ending.defer(() => rmSync(directory, { recursive: true }));
const bridge = makeBridge();
const skipped: string[] = [];

const paths: Path[] = [
  { title: 'no cable: program to program', shape: 'nothing', size: 2 },
  { title: 'cable, fused', shape: 'fused', size: 2 },
  { title: 'cable, UDP hop', shape: 'hop', size: 2 },
  { title: 'hub, 2 ports', shape: 'hub', size: 2 },
  { title: 'hub, 2 ports, captured', shape: 'hub', size: 2, capture: join(directory, 'hub.pcap') },
  { title: 'hub, 16 ports', shape: 'hub', size: 16 },
  { title: 'switch, 16 ports, VLANs', shape: 'switch', size: 16 },
];
const noSocat = missing('socat');
if (noSocat) skipped.push(`socat: ${noSocat}`);
else {
  paths.push({ title: 'socat, a process a cable', shape: 'relay', size: 2 });
  paths.push({ title: 'socat, a process at each end', shape: 'relays', size: 2 });
}
if (typeof bridge === 'string') skipped.push(`kernel bridge: ${bridge}`);
else {
  ending.use(bridge);
  const title = `kernel bridge, 16 ports${bridge.vlans ? ', VLANs' : ''}`;
  paths.push({ title, shape: 'nothing', size: 2, hosts: bridge.peers });
}

const rounds = new Map<Path, Figures[]>(paths.map((path) => [path, []]));
for (let round = 0; round < ROUNDS; round++) {
  // In turn, so that whatever else the machine does hits all.
  for (const [path, figures] of rounds) figures.push(await measure(path));
}

const medians = new Map<Path, Figures>();
for (const [path, figures] of rounds) {
  const names = Object.keys(figures[0]!) as (keyof Figures)[];
  const middle = names.map((name) => [name, median(figures.map((each) => each[name]))]);
  medians.set(path, Object.fromEntries(middle) as Figures);
}

/** The median, and from least to most. */
function cell(path: Path, name: keyof Figures, digits: number): string {
  const values = rounds.get(path)!.map((figures) => figures[name]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${medians.get(path)![name].toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
}

/** Nothing is in between where the subject is `nothing`. */
function costCell(path: Path, name: keyof Figures): string {
  return path.shape === 'nothing' ? '' : cell(path, name, 2);
}

const machine = `${cpus()[0]?.model}, ${cpus().length} CPUs, Node ${process.version}`;
process.stdout.write(`${machine}, frames of ${FRAME_BYTES} bytes; medians of ${ROUNDS} rounds (least to most)\n\n`);
process.stdout.write(
  `${table([
    [
      'path',
      'flood: frames/s',
      'µs/frame',
      'µs/frame in all',
      'steady: µs/frame',
      'µs/frame in all',
      'arrived',
      'round trip, µs',
    ],
    ...paths.map((path) => [
      path.title,
      cell(path, 'flood', 0),
      costCell(path, 'floodCost'),
      cell(path, 'floodWhole', 2),
      costCell(path, 'steadyCost'),
      cell(path, 'steadyWhole', 2),
      `${(medians.get(path)!.steadyShare * 100).toFixed(1)} %`,
      cell(path, 'trip', 0),
    ]),
  ])}\n\n`,
);
for (const reason of skipped) process.stdout.write(`Not measured: ${reason}\n`);

const figuresOf = (title: string): Figures | undefined => medians.get(paths.find((path) => path.title === title)!);
const [own, relay] = [figuresOf('cable, fused')!, figuresOf('socat, a process at each end')];
if (relay !== undefined) {
  process.stdout.write(
    `A fused cable against a process at each end: ${(own.flood / relay.flood).toFixed(1)} times the frames, ` +
      `${(own.floodCost / relay.floodCost).toFixed(2)} of the CPU time a frame, ${(own.trip / relay.trip).toFixed(2)} of the round trip.\n`,
  );
}
if (options.svg !== undefined) writeFileSync(options.svg, picture(medians, machine));

await manyPorts();
