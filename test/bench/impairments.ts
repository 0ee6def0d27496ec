// Whether a cable does what it is asked for: delays, losses and rates as they are achieved, and what a delay costs in throughput; in the
// same run, where this kernel has it, beside tc netem on a veth pair. Repeat with: npm run bench -- --only impairments

import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import type { DirectionImpairments } from '../../src/api/impairments.ts';
import type { LoadOrder, LoadResult, PeerAddress } from './fabric-load.ts';
import type { SubjectAddresses, SubjectState } from './impairments-subject.ts';
import { median, table } from './measure.ts';

const ROUNDS = 5;
const MILLISECONDS = 1000;
const FRAME_BYTES = 1000;
/** Frames of 1,000 bytes that are a gigabit a second. */
const GIGABIT = 125_000;
const STEADY = 5000;
const DELAYS = [1, 10, 100];
const host = '127.0.0.1';
const ADDRESSES: SubjectAddresses = { peers: [28_000, 28_001], ports: [28_100, 28_101], hop: [28_200, 28_201] };

async function ask<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  const answer = once(child, 'message');
  child.send(question);
  return (await answer)[0] as Answer;
}

/** What impairs, and the two who send through it. */
interface Path {
  impair(impairments: DirectionImpairments): Promise<void>;
  /** What the subject has used and seen; not the kernel's to tell. */
  state?(): Promise<SubjectState>;
  peers: [PeerAddress, PeerAddress];
  targets: [PeerAddress, PeerAddress];
}

const load = fork(new URL('./fabric-load.ts', import.meta.url));
const subject = fork(new URL('./impairments-subject.ts', import.meta.url));

async function run({ peers, targets }: Path, rate: number, milliseconds = MILLISECONDS): Promise<LoadResult> {
  const order: LoadOrder = { peers, targets, frameBytes: FRAME_BYTES, rate, milliseconds, stamped: rate === STEADY };
  return ask<LoadResult>(load, order);
}

const local = (port: number): PeerAddress => ({ host, port });
const fabric: Path = {
  impair: async (impairments) => {
    await ask(subject, { impairments });
  },
  state: () => ask<SubjectState>(subject, 'state'),
  peers: [local(ADDRESSES.peers[0]), local(ADDRESSES.peers[1])],
  targets: [local(ADDRESSES.ports[0]), local(ADDRESSES.ports[1])],
};

interface Netem extends Path, Disposable {}

/** Two hosts joined by a veth pair, whose first end has netem; answers why not where that cannot be had. */
function makeNetem(): Netem | string {
  const names = ['a', 'b'].map((end) => `labwire-bench-${process.pid}-${end}`) as [string, string];
  const run = (program: string, ...words: string[]): void => {
    execFileSync(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const qdisc = (...words: string[]): void =>
    run('ip', 'netns', 'exec', names[0], 'tc', 'qdisc', 'replace', 'dev', 'eth0', 'root', 'netem', ...words);
  const undo = new DisposableStack();
  try {
    for (const [index, name] of names.entries()) {
      run('ip', 'netns', 'add', name);
      undo.defer(() => run('ip', 'netns', 'del', name));
      if (index === 1)
        run('ip', '-n', names[0], 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    }
    for (const [index, name] of names.entries()) {
      run('ip', '-n', name, 'address', 'add', `192.0.2.${index + 1}/24`, 'dev', 'eth0');
      run('ip', '-n', name, 'link', 'set', 'eth0', 'up');
    }
    qdisc('delay', '0ms');
  } catch (error) {
    undo.dispose();
    const { stderr } = error as { stderr?: Buffer };
    return stderr?.toString().trim() || 'ip and tc (iproute2) are not installed';
  }
  const peer = (index: 0 | 1): PeerAddress => ({ host: `192.0.2.${index + 1}`, port: 28_300, namespace: names[index] });
  return {
    peers: [peer(0), peer(1)],
    targets: [peer(1), peer(0)],
    impair: async ({ delay, loss, rate }) => {
      const words = ['limit', '100000', 'delay', `${delay?.ms ?? 0}ms`];
      if (loss) words.push('loss', `${loss.percent}%`);
      if (rate) words.push('rate', `${rate.kbit}kbit`);
      qdisc(...words);
    },
    [Symbol.dispose]: () => undo.dispose(),
  };
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const microseconds = (milliseconds: number): string => `${Math.round(milliseconds * 1000)} µs`;

/** Frames a second with each delay, as medians; the rounds go around the delays, so that whatever the machine does hits all. */
async function throughput(path: Path, rate: number): Promise<string[]> {
  const found = new Map<number, { frames: number; cost: number }[]>([0, ...DELAYS].map((ms) => [ms, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [ms, values] of found) {
      await path.impair(ms === 0 ? {} : { delay: { ms } });
      const before = (await path.state?.())?.used ?? 0;
      const { received, seconds } = await run(path, rate);
      const used = ((await path.state?.())?.used ?? 0) - before;
      values.push({ frames: received / seconds, cost: used / received });
    }
  }
  const none = found.get(0)!;
  return [...found].map(([ms, values]) => {
    const frames = Math.round(median(values.map((each) => each.frames)));
    const share = median(values.map((each, round) => each.frames / none[round]!.frames));
    const cost = median(values.map((each) => each.cost));
    const ratio = ms === 0 ? '' : ` (${percent(share)})`;
    return `${frames}${ratio}${path.state ? `, ${cost.toFixed(2)} µs` : ''}`;
  });
}

async function delays(path: Path): Promise<string[][]> {
  const rows: string[][] = [];
  for (const ms of [0, ...DELAYS]) {
    await path.impair(ms === 0 ? {} : { delay: { ms } });
    const ways: LoadResult[] = [];
    for (let round = 0; round < ROUNDS; round++) ways.push(await run(path, STEADY));
    const [way, way99] = [median(ways.map((each) => each.way)), median(ways.map((each) => each.way99))];
    const bound = 0.2 + 0.05 * ms;
    const kept = ms === 0 ? '' : `${percent((way - ms) / bound)} of ${microseconds(bound)}`;
    rows.push([`${ms} ms`, microseconds(way - ms), microseconds(way99 - ms), kept]);
  }
  return rows;
}

/** Of 100,000 frames, beside the standard deviation that chance alone has. */
async function losses(path: Path): Promise<string[][]> {
  const rows: string[][] = [];
  for (const asked of [0.1, 1, 10]) {
    await path.impair({ loss: { percent: asked } });
    const { sent, received } = await run(path, 20_000, 5000);
    // What a socket has no room for, while other programs have the processor, is no loss of the line.
    const seen = (await path.state?.())?.seen;
    const [offered, dropped] = seen ? [seen.offered.frames, seen.dropped.loss] : [sent, sent - received];
    const lost = (dropped / offered) * 100;
    const deviation = Math.sqrt((asked * (100 - asked)) / offered);
    const off = `${((lost - asked) / deviation).toFixed(1)} deviations`;
    rows.push([`${asked} %`, `${lost.toFixed(3)} % of ${offered}`, off]);
  }
  return rows;
}

/** With twice as much on offer. */
async function rates(path: Path): Promise<string[][]> {
  const rows: string[][] = [];
  for (const mbit of [1, 10, 100]) {
    await path.impair({ rate: { kbit: mbit * 1000, queue_ms: 50 } });
    const { received, seconds } = await run(path, mbit * 250, 3000);
    // What the queue still holds at the end comes on top.
    const found = (received * FRAME_BYTES * 8) / (seconds + 0.05) / 1e6;
    rows.push([`${mbit} Mbit/s`, `${found.toFixed(3)} Mbit/s (${percent(found / mbit)})`]);
  }
  return rows;
}

function show(title: string, rows: string[][]): void {
  process.stdout.write(`\n${title}\n\n${table(rows)}\n`);
}

async function all(name: string, path: Path): Promise<void> {
  const head = ['path', 'no delay', ...DELAYS.map((ms) => `${ms} ms`)];
  show('Frames a second that arrive, their share of those without a delay, and CPU time for each', [
    head,
    [`${name}, a gigabit a second offered`, ...(await throughput(path, GIGABIT))],
    [`${name}, flood`, ...(await throughput(path, 0))],
  ]);
  show(`${name}: longer than the delay that was asked for (${STEADY} frames/s, from program to program)`, [
    ['asked', 'median', '99th percentile', 'median, of 0.2 ms + 5 %'],
    ...(await delays(path)),
  ]);
  show(`${name}: losses`, [['asked', 'achieved', 'off by'], ...(await losses(path))]);
  show(`${name}: rates`, [['asked', 'achieved'], ...(await rates(path))]);
}

process.stdout.write(
  `${cpus()[0]?.model}, ${cpus().length} CPUs, Node ${process.version}, frames of ${FRAME_BYTES} bytes\n`,
);
try {
  await ask(subject, ADDRESSES);
  await all('fabric', fabric);
  const netem = makeNetem();
  if (typeof netem === 'string') process.stdout.write(`\ntc netem: skipped, as it cannot be had here (${netem})\n`);
  else {
    using path = netem;
    await all('tc netem', path);
  }
} finally {
  for (const child of [load, subject]) child.kill('SIGKILL');
}
