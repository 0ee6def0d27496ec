// What a lab costs as it grows: create, link, move, open, start and stop, for each operation, at n = 50, 500 and 2,000 real VPCS nodes.
// The yardstick is the run itself: the cost of one operation in a large lab over that in the smallest one.
import { Agent } from 'node:http';
import { parseArgs } from 'node:util';
import { Daemon } from '../system/daemon.ts';
import { killAllIn } from '../system/processes.ts';
import { anonymousMegabytes, cpuMilliseconds, table } from './measure.ts';

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '50,500,2000' }, running: { type: 'string', default: '500' } },
});
const SIZES = values.sizes.split(',').map(Number);
/** Programs that run at the same time at most: the host's memory and patience, not the daemon's. */
const RUNNING = Number(values.running);
/** Nodes that are moved: each move costs the same wherever it happens. */
const MOVES = 200;
const AT_ONCE = 8;

interface Cost {
  /** Milliseconds of the clock, and of the daemon's CPU, for one operation. */
  clock: number;
  cpu: number;
}

/** Each operation's cost at each size; undefined where it was not run. */
type Figures = Map<string, (Cost | undefined)[]>;

async function eachOf<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of queue) await task(item);
    }),
  );
}

class Bench implements AsyncDisposable {
  readonly daemon = new Daemon({
    environment: {
      LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: '10000',
      LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: '19999',
      LABWIRE_SERVER_UDP_START_PORT_RANGE: '20000',
      LABWIRE_SERVER_UDP_END_PORT_RANGE: '32000',
    },
  });
  private readonly agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  async call(method: string, path: string, body?: unknown): Promise<{ [member: string]: string }> {
    const answer = await this.daemon.ask(method, path, { body, agent: this.agent });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  async cost(count: number, work: () => Promise<void>): Promise<Cost> {
    const [clock, cpu] = [performance.now(), cpuMilliseconds(this.daemon.pid)];
    await work();
    return { clock: (performance.now() - clock) / count, cpu: (cpuMilliseconds(this.daemon.pid) - cpu) / count };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.agent.destroy();
    await this.daemon[Symbol.asyncDispose]();
    killAllIn(this.daemon.directory);
  }
}

/** One lab of `size` PCs, each two of them linked. Gives the memory that the daemon needs for each node. */
async function measure(size: number, figures: Figures): Promise<number> {
  await using bench = new Bench();
  await bench.daemon.start();
  const put = (name: string, cost: Cost | undefined): void =>
    void figures.set(name, [...(figures.get(name) ?? []), cost]);
  const project = await bench.call('POST', '/v2/projects', { name: 'lab', auto_close: false });
  const path = `/v2/projects/${project['project_id']}`;
  const empty = anonymousMegabytes(bench.daemon.pid);
  const numbers = Array.from({ length: size }, (_unused, index) => index);
  const ids: string[] = [];
  put(
    'create a node',
    await bench.cost(size, () =>
      eachOf(numbers, async (index) => {
        const node = await bench.call('POST', `${path}/nodes`, {
          name: 'PC{0}',
          node_type: 'vpcs',
          compute_id: 'local',
          x: index,
        });
        ids.push(node['node_id'] as string);
      }),
    ),
  );
  const pairs = ids
    .filter((_id, index) => index % 2 === 0)
    .map((id, index) => [id, ids[2 * index + 1] as string] as const);
  put(
    'link two nodes',
    await bench.cost(pairs.length, () =>
      eachOf(pairs, async (pair) => {
        const nodes = pair.map((node_id) => ({ node_id, adapter_number: 0, port_number: 0 }));
        await bench.call('POST', `${path}/links`, { nodes });
      }),
    ),
  );
  const moved = Array.from({ length: MOVES }, (_unused, index) => ids[index % size] as string);
  let place = 0;
  const move = async (id: string): Promise<void> => {
    place += 1;
    await bench.call('PUT', `${path}/nodes/${id}`, { x: place });
  };
  put('move a node', await bench.cost(MOVES, () => eachOf(moved, move)));
  const memory = ((anonymousMegabytes(bench.daemon.pid) - empty) * 1024) / size;
  await bench.call('POST', `${path}/close`);
  put('open, for each node', await bench.cost(size, async () => void (await bench.call('POST', `${path}/open`))));
  const runs = size <= RUNNING;
  put(
    'start, for each node',
    runs ? await bench.cost(size, async () => void (await bench.call('POST', `${path}/nodes/start`))) : undefined,
  );
  put(
    'stop, for each node',
    runs ? await bench.cost(size, async () => void (await bench.call('POST', `${path}/nodes/stop`))) : undefined,
  );
  await bench.call('DELETE', path);
  return memory;
}

const figures: Figures = new Map();
const memory: number[] = [];
for (const size of SIZES) memory.push(await measure(size, figures));

const shown = (cost: Cost | undefined): string =>
  cost ? `${cost.clock.toFixed(2)} (${cost.cpu.toFixed(2)})` : 'not run';
const ratio = (costs: readonly (Cost | undefined)[]): string => {
  const [least, ...larger] = costs;
  const last = larger.findLast((cost) => cost !== undefined);
  return least && last ? (last.clock / least.clock).toFixed(2) : '';
};
process.stdout.write(
  `${table([
    ['ms of the clock (of the daemon’s CPU)', ...SIZES.map((size) => `n = ${size}`), 'largest over smallest'],
    ...[...figures].map(([name, costs]) => [name, ...costs.map(shown), ratio(costs)]),
    ['memory of a node, KiB', ...memory.map((kibibytes) => kibibytes.toFixed(0)), ''],
  ])}\n`,
);
