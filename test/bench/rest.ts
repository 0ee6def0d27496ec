// Single frames after a pause: the round trip of one ping by a cable, a hub and a switch, and in turn with them by what others use: one
// relay in C at each end of a cable, or one for it. Repeat with: npm run bench -- --only rest [--write]

import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuMilliseconds, median, quantile, table } from './measure.ts';
import type { RestOrder } from './rest-subject.ts';

/** Milliseconds between two pings, and pings of each way. */
const PAUSES = [
  [1, 1000],
  [10, 300],
  [50, 120],
  [250, 40],
  [1000, 14],
] as const;
const FLOOD_MS = 1000;
const FLOOD_ROUNDS = 3;
const IDLE_MS = 5000;
/** What a ping may take of the pair's: the promise. */
const MOST = 0.8;

const OURS = ['cable', 'hub', 'switch'] as const;
const WAYS = [...OURS, 'pair', 'single'] as const;
type Way = (typeof WAYS)[number];
const TITLES: Record<Way, string> = {
  cable: 'cable',
  hub: 'hub',
  switch: 'switch',
  pair: 'a relay at each end',
  single: 'one relay',
};

const { values: options } = parseArgs({
  options: { 'frame-loop': { type: 'string', default: 'automatic' } },
});
/** UDP ports of this run, below those that the kernel gives to clients: each way has its peers', its own and two more. */
const FIRST_PORT = 26_000 + (process.pid % 40) * 40;
const portsOf = (kind: number, way: number): [number, number] => [
  FIRST_PORT + kind * 10 + way * 2,
  FIRST_PORT + kind * 10 + way * 2 + 1,
];
const peers = (way: Way): [number, number] => portsOf(0, WAYS.indexOf(way));
const own = (way: Way): [number, number] => portsOf(1, WAYS.indexOf(way));

const directory = mkdtempSync(join(tmpdir(), 'labwire-bench-'));
const children: ChildProcess[] = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const program = join(directory, 'rest');
execFileSync('cc', ['-O2', '-pthread', '-o', program, join(import.meta.dirname, 'rest.c')]);

/** Starts it and waits until it is ready. */
async function start(...words: (string | number)[]): Promise<ChildProcess> {
  const child = spawn(program, words.map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout!, 'data');
  return child;
}

async function lines(...words: (string | number)[]): Promise<string[]> {
  const child = spawn(program, words.map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const text = (await child.stdout!.setEncoding('utf8').toArray()).join('');
  return text.trimEnd().split('\n');
}

const subject = fork(new URL('./rest-subject.ts', import.meta.url));
children.push(subject);
subject.send({
  frameLoop: options['frame-loop'] === 'off' ? 'off' : 'automatic',
  ways: OURS.map((shape) => ({ shape, peers: peers(shape), ports: own(shape) })),
  firstCablePort: FIRST_PORT + 20,
} satisfies RestOrder);
const [loop] = await once(subject, 'message');

const relay = ([near, nearPeer]: [number, number], [far, farPeer]: [number, number]): Promise<ChildProcess> =>
  start('relay', near, nearPeer, far, farPeer);
const [hopLeft, hopRight] = portsOf(3, 4);
const [left, right] = [own('pair'), peers('pair')];
const pair = [
  await relay([left[0], right[0]], [hopLeft, hopRight]),
  await relay([hopRight, hopLeft], [left[1], right[1]]),
];
const single = [await relay([own('single')[0], peers('single')[0]], [own('single')[1], peers('single')[1]])];

const near = WAYS.flatMap((way) => [peers(way)[0], own(way)[0]]);
const far = WAYS.flatMap((way) => [peers(way)[1], own(way)[1]]);
const echo = await start('echo', ...far);

/** The processes that stand between the peers. */
const between: [string, readonly ChildProcess[], ways: number][] = [
  ['ours', [subject], OURS.length],
  ['pair', pair, 1],
  ['single', single, 1],
];
const used = (): number[] =>
  between.map(([, processes]) => processes.reduce((sum, { pid }) => sum + cpuMilliseconds(pid!), 0));

interface Rest {
  pause: number;
  trips: Record<Way, number[]>;
  lost: number;
  /** Microseconds of CPU for a frame: ours, of the pair, of the single relay. */
  costs: number[];
}

async function ping(pause: number, count: number): Promise<Rest> {
  const trips = Object.fromEntries(WAYS.map((way) => [way, []])) as unknown as Record<Way, number[]>;
  let lost = 0;
  const before = used();
  for (const line of await lines('ping', pause * 1000, count, ...near)) {
    const [way, nanoseconds] = line.split(' ').map(Number) as [number, number];
    if (nanoseconds < 0) lost++;
    else trips[WAYS[way]!].push(nanoseconds / 1000);
  }
  const after = used();
  const costs = between.map(([, , ways], index) => ((after[index]! - before[index]!) * 1000) / (2 * count * ways));
  return { pause, trips, lost, costs };
}

await ping(1, 200);
const rests: Rest[] = [];
for (const [pause, count] of PAUSES) rests.push(await ping(pause, count));

const idleBefore = cpuMilliseconds(subject.pid!);
await sleep(IDLE_MS);
const idle = (cpuMilliseconds(subject.pid!) - idleBefore) / IDLE_MS;

echo.kill('SIGKILL');
await once(echo, 'exit');
const floods = Object.fromEntries(WAYS.map((way) => [way, []])) as unknown as Record<Way, number[]>;
for (let round = 0; round < FLOOD_ROUNDS; round++) {
  for (const way of WAYS) {
    const [[from, at], [to, by]] = [peers(way), own(way)];
    const [arrived] = await lines('flood', FLOOD_MS, from, to, at, by);
    floods[way].push(Number(arrived) / (FLOOD_MS / 1000));
  }
}

const share = (way: Way, { trips }: Rest): number => median(trips[way]) / median(trips.pair);
const figure = (way: Way, rest: Rest): string =>
  `${median(rest.trips[way]).toFixed(0)} (${quantile(rest.trips[way], 0.99).toFixed(0)})`;
const head = ['pause between pings', ...PAUSES.map(([pause]) => `${pause} ms`)];
const worst = Math.max(...OURS.flatMap((way) => rests.map((rest) => share(way, rest))));
const flooded = (way: Way): number => median(floods[way]);
const report = [
  `Frame loop: ${loop}. Round trips in µs, median (99th percentile):`,
  '',
  table([head, ...WAYS.map((way) => [TITLES[way], ...rests.map((rest) => figure(way, rest))])]),
  '',
  'Median as a share of that by a relay at each end:',
  '',
  table([
    head,
    ...WAYS.filter((way) => way !== 'pair').map((way) => [
      TITLES[way],
      ...rests.map((rest) => share(way, rest).toFixed(2)),
    ]),
    [
      'CPU a frame, ours',
      ...rests.map(({ costs: [ours, pair] }) => `${(ours! / pair!).toFixed(2)} (${ours!.toFixed(1)} µs)`),
    ],
  ]),
  '',
  `The worst of ours is ${worst.toFixed(2)}; ${MOST} is promised. Lost pings: ${rests.reduce((sum, { lost }) => sum + lost, 0)}. ` +
    `CPU without frames: ${(idle * 100).toFixed(3)} % of one core. Flood of 1,000-byte frames, against a relay at each end ` +
    `(${(flooded('pair') / 1000).toFixed(0)} thousand a second): ${OURS.map((way) => `${way} ${(flooded(way) / flooded('pair')).toFixed(1)}`).join(', ')} times the frames.`,
].join('\n');
process.stdout.write(`${report}\n`);
process.exit();
