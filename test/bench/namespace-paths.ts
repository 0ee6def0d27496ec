// What benches of paths between two network namespaces share: TCP and the round trip, each path in turn.

import { execFile, spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { cannotMakeInterfaces, ip, Namespace, uniqueName } from '../fabric/namespaces.ts';
import { cpuMilliseconds, isShort, mean, median, table } from './measure.ts';

const run = promisify(execFile);
const ROUNDS = isShort ? 1 : 3;
const SECONDS = isShort ? 1 : 3;
const PINGS = isShort ? 20 : 100;

export type Undo = () => Promise<unknown>;

/**
 * Makes two interfaces whose frames reach each other, and returns the processes that move them.
 * @param adopt gives the interfaces to the containers, as they are before their links are made; otherwise they get them
 * afterwards
 */
export type Path = (
  links: [string, string],
  undo: Undo[],
  adopt: () => Promise<void>,
) => Promise<number | number[] | undefined>;

/** What others are compared with. */
export const PLAIN = 'plain veth pair';

export const veth: Path = async (links) => {
  await ip('link', 'add', links[0], 'type', 'veth', 'peer', 'name', links[1]);
  return undefined;
};

interface Figure {
  gigabits: number;
  /** Round trips, in microseconds. */
  pings: number[];
  /** CPU of the processes that move the frames, in cores. */
  cores: number | undefined;
}

async function measure(path: Path): Promise<Figure> {
  const undo: Undo[] = [];
  const bench = { after: (step: Undo) => undo.push(step) };
  try {
    const links: [string, string] = [uniqueName(), uniqueName()];
    const [from, to] = [await Namespace.create(bench), await Namespace.create(bench)];
    let adopted: Promise<void> | undefined;
    const adopt = (): Promise<void> => {
      adopted ??= from.adopt(links[0], '10.96.0.1/24').then(() => to.adopt(links[1], '10.96.0.2/24'));
      return adopted;
    };
    const pids = [(await path(links, undo, adopt)) ?? []].flat();
    await adopt();
    const cpu = () => pids.reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
    // The first frame may be lost: the kernel needs a moment until an interface sends.
    await from.run('ping', '-c', '2', '-W', '5', '10.96.0.2');
    const pings = await from.run('ping', '-c', `${PINGS}`, '-i', '0.02', '10.96.0.2');
    const server = spawn('ip', ['netns', 'exec', to.name, 'iperf3', '-s', '-1'], { stdio: 'ignore' });
    undo.push(async () => server.kill('SIGKILL'));
    while (!(await to.run('ss', '-Hltn', 'sport = :5201')).includes('5201')) await sleep(20);
    const before = cpu();
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
    const used = pids.length === 0 ? undefined : cpu() - before;
    const { end } = JSON.parse(stdout);
    return {
      pings: Array.from(pings.matchAll(/time=([\d.]+) ms/g), ([, time]) => Number(time) * 1000),
      gigabits: end.sum_received.bits_per_second / 1e9,
      cores: used === undefined ? undefined : used / 1000 / end.sum_received.seconds,
    };
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** Measures the paths, {@link PLAIN} among them, and prints a table. @param wanted the programs that are needed */
export async function comparePaths(paths: Readonly<Record<string, Path>>, wanted: readonly string[]): Promise<void> {
  const found = await Promise.all(wanted.map((program) => findProgram(program)));
  const missing = wanted.filter((_, index) => found[index] === undefined);
  if (cannotMakeInterfaces !== false) {
    process.stdout.write(`Skipped: ${cannotMakeInterfaces}.\n`);
  } else if (missing.length > 0) {
    const packages = missing.map((program) => (program === 'ping' ? 'iputils-ping' : program)).join(' ');
    const install = `apt-get install --no-install-recommends ${packages}`;
    process.stdout.write(`Skipped: ${missing.join(', ')} not installed (Debian: ${install}).\n`);
  } else {
    process.stdout.write(
      `${cpus()[0]?.model}, ${cpus().length} CPUs, Node ${process.version}, median of ${ROUNDS}\n\n`,
    );
    const figures = new Map<string, Figure[]>(Object.keys(paths).map((title) => [title, []]));
    // In turn, there and back, so that whatever else the machine does hits all.
    const order = Object.entries(paths);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [title, path] of order) figures.get(title)!.push(await measure(path));
      order.reverse();
    }
    const plain = median(figures.get(PLAIN)!.map(({ gigabits }) => gigabits));
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
        ...[mean, median].map((of) => of(all.flatMap(({ pings }) => pings)).toFixed(0)),
      ];
    });
    const head = [
      ...['path', 'Gbit/s (each run)', 'ratio to veth', 'cores of its process', 'CPU seconds/GB'],
      ...['ping, average, µs', 'median'],
    ];
    process.stdout.write(`${table([head, ...rows])}\n`);
  }
}
