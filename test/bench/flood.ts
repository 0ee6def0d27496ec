// What a node that floods its cable does to everybody else: the API's answers, and the frames of another cable of the same lab.
// Repeat with: npm run bench -- --only flood

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../system/daemon.ts';
import { executable } from '../system/executable.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import type { LoadOrder, LoadResult } from './fabric-load.ts';
import { cpuMilliseconds, median, quantile, table } from './measure.ts';

const ROUNDS = 5;
const MILLISECONDS = 4000;
/** Of the flood: the smallest, so that there are the most. */
const FLOOD_BYTES = 60;
/** Frames a second of the cable that wants to be left in peace, and their size. */
const VICTIM_RATE = 5000;
const VICTIM_BYTES = 1000;
/** Milliseconds between two requests of the API; every second one changes a node. */
const PAUSE_MS = 5;
const host = '127.0.0.1';

/** Two peers at two ports of a hub of their own. */
interface Pair {
  child: ChildProcess;
  peers: LoadOrder['peers'];
  targets: LoadOrder['targets'];
}

async function pair(lab: Lab, name: string, firstPeer: number): Promise<Pair> {
  const { daemon, project } = lab;
  const compute = `/v2/compute/projects/${project.project_id}`;
  const { node_id } = await lab.hub(name);
  const peers = [firstPeer, firstPeer + 1].map((port) => ({ host, port }));
  const targets: LoadOrder['targets'] = [];
  for (const [number, { port: rport }] of peers.entries()) {
    const { udp_port: lport } = await daemon.post(`${compute}/ports/udp`);
    const nio = { type: 'nio_udp', lport, rhost: host, rport };
    await daemon.post(`${compute}/ethernet_hub/nodes/${node_id}/adapters/0/ports/${number}/nio`, nio);
    targets.push({ host, port: lport });
  }
  return { child: fork(new URL('./fabric-load.ts', import.meta.url)), peers, targets };
}

async function run(
  { child, peers, targets }: Pair,
  rate: LoadOrder['rate'],
  frameBytes: number,
  milliseconds = MILLISECONDS,
): Promise<LoadResult> {
  const answer = once(child, 'message');
  child.send({ peers, targets, frameBytes, rate, milliseconds } satisfies LoadOrder);
  return (await answer)[0] as LoadResult;
}

/** Milliseconds that each request took. */
async function requests(lab: Lab, node: NodeObject, milliseconds: number): Promise<number[]> {
  const { daemon } = lab;
  const path = `${lab.path}/nodes/${node.node_id}`;
  const times: number[] = [];
  for (const end = performance.now() + milliseconds; performance.now() < end; await sleep(PAUSE_MS)) {
    const start = performance.now();
    if (times.length % 2 === 0) await daemon.get(path);
    else await daemon.put(path, { x: times.length });
    times.push(performance.now() - start);
  }
  return times;
}

interface Figures {
  offered: number;
  delivered: number;
  api50: number;
  api99: number;
  victimShare: number;
  trip: number;
  trip99: number;
  cpu: number;
}

executable(); // built now if it is stale
await using daemon = await new Daemon().start();
const lab = await Lab.create(daemon);
const node = await lab.pc('PC1');
const [flooding, victim] = [await pair(lab, 'Flooded', 28_400), await pair(lab, 'Victim', 28_410)];

async function round(flooded: boolean): Promise<Figures> {
  const before = cpuMilliseconds(daemon.pid);
  const flood = flooded ? run(flooding, 0, FLOOD_BYTES, 2 * MILLISECONDS + 500) : undefined;
  await sleep(250); // while it takes off
  const asking = requests(lab, node, 2 * MILLISECONDS);
  const stream = await run(victim, VICTIM_RATE, VICTIM_BYTES);
  const trips = await run(victim, 'trips', VICTIM_BYTES);
  const times = await asking;
  const { sent, received, seconds } = (await flood) ?? { sent: 0, received: 0, seconds: 1 };
  return {
    offered: sent / seconds,
    delivered: received / seconds,
    api50: quantile(times, 0.5),
    api99: quantile(times, 0.99),
    victimShare: stream.received / stream.sent,
    trip: trips.trip,
    trip99: trips.trip99,
    cpu: (cpuMilliseconds(daemon.pid) - before) / (2 * MILLISECONDS + 500),
  };
}

await round(false); // the first requests warm the program up
const rounds: Record<'calm' | 'flood', Figures[]> = { calm: [], flood: [] };
for (let count = 0; count < ROUNDS; count++) {
  rounds.calm.push(await round(false));
  rounds.flood.push(await round(true));
}
for (const { child } of [flooding, victim]) child.kill('SIGKILL');

function cells(name: keyof Figures, digits: number, scale = 1): string[] {
  return [rounds.calm, rounds.flood].map((figures) => {
    const values = figures.map((each) => each[name] * scale);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return `${median(values).toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
  });
}

process.stdout.write(
  `Medians of ${ROUNDS} rounds, in turn (least to most)\n\n${table([
    ['', 'calm', 'another node floods'],
    [`frames of ${FLOOD_BYTES} bytes that it sends, a second`, ...cells('offered', 0)],
    ['of them delivered', ...cells('delivered', 0)],
    ['API: median, ms', ...cells('api50', 2)],
    ['API: 99th percentile, ms', ...cells('api99', 2)],
    [`victim: arrived of ${VICTIM_RATE} frames/s, %`, ...cells('victimShare', 2, 100)],
    ['victim: median round trip, µs', ...cells('trip', 0)],
    ['victim: 99th percentile, µs', ...cells('trip99', 0)],
    ['CPU of the daemon, cores', ...cells('cpu', 2)],
  ])}\n`,
);
