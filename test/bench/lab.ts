// What an operation costs in a lab of n nodes: it must not depend on n.
// Repeat with: npm run bench -- --only lab
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, MANY_PORTS } from '../system/daemon.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { processesIn } from '../system/processes.ts';
import { anonymousMegabytes, type Cost, costOf, shareOf, table } from './measure.ts';

const SIZES = [50, 500, 2000];
/** A real VPCS takes 0.2 % of a core while it does nothing: 2,000 of them are more than a small machine has. */
const REAL_SIZES = [50, 500];

/** Operations at full size that are measured, one after the other. */
const SAMPLE = 50;
/** Lists of all nodes that are asked for, one after the other. */
const LISTS = 20;
const HUB_PORTS = 8;
/** The topology file is written when a lab has been quiet for so long. */
const QUIET_MS = 1_500;

/** Figures of one size, by the title of their row. */
type Figures = Map<string, Cost | string>;

/** Adds n PCs at hubs; the last `SAMPLE` of each kind are measured. */
async function grow(lab: Lab, n: number, figures: Figures = new Map()): Promise<NodeObject[]> {
  const { daemon } = lab;
  const pcs: NodeObject[] = [];
  const hubs: NodeObject[] = [];
  for (let index = 0; index < n / HUB_PORTS; index++) hubs.push(await lab.hub('Hub1'));
  const create = async () => void pcs.push(await lab.pc('PC1'));
  for (let index = 0; index < n - SAMPLE; index++) await create();
  figures.set('create a node', await costOf(daemon.pid, SAMPLE, create));
  const link = (index: number) => lab.link(pcs[index]!, hubs[Math.floor(index / HUB_PORTS)]!, index % HUB_PORTS);
  for (let index = 0; index < n - SAMPLE; index++) await link(index);
  figures.set('link two nodes', await costOf(daemon.pid, SAMPLE, (index) => link(n - SAMPLE + index)));
  return pcs;
}

/** A daemon that has done everything a few hundred times: what the first requests cost is the warming up of the program. */
async function warmDaemon(vpcs: string): Promise<Daemon> {
  const daemon = await new Daemon({ config: `[VPCS]\nvpcs_path = ${vpcs}\n`, environment: MANY_PORTS }).start();
  const warm = await Lab.create(daemon, 'Warm');
  const pcs = await grow(warm, 200);
  for (const { node_id } of pcs) await daemon.put(`${warm.path}/nodes/${node_id}`, { name: 'Moved', x: 1 });
  for (const pc of pcs.slice(0, 20)) await warm.start(pc);
  await warm.reopen();
  await daemon.delete(warm.path);
  await sleep(QUIET_MS);
  return daemon;
}

/** Starting and stopping; of one among all the others, and of all. The supervisor of the programs counts. */
async function starts(lab: Lab, nodes: readonly NodeObject[], figures: Figures): Promise<void> {
  const { daemon } = lab;
  const pids = [daemon.pid, ...processesIn(join(daemon.state, 'supervisor'))];
  const all = (action: string) => () => daemon.post(`${lab.path}/nodes/${action}`);
  const one = (action: string) => (index: number) =>
    daemon.post(`${lab.path}/nodes/${nodes[(index * 7919) % nodes.length]!.node_id}/${action}`);
  figures.set('start all nodes, each', await shareOf(pids, nodes.length, all('start')));
  await sleep(QUIET_MS);
  figures.set('stop one of them', await costOf(pids, 20, one('stop')));
  figures.set('start one of them', await costOf(pids, 20, one('start')));
  figures.set('stop all nodes, each', await shareOf(pids, nodes.length, all('stop')));
}

/** Longest time, in milliseconds, that another request takes while something is done. */
async function longestWait(daemon: Daemon, task: () => Promise<unknown>): Promise<number> {
  let over = false;
  const done = task().finally(() => {
    over = true;
  });
  let longest = 0;
  while (!over) {
    const start = performance.now();
    await daemon.get('/v2/version');
    longest = Math.max(longest, performance.now() - start);
    await sleep(1);
  }
  await done;
  return longest;
}

async function measure(n: number): Promise<Figures> {
  await using daemon = await warmDaemon(join(import.meta.dirname, 'vpcs-stand-in'));
  const { pid } = daemon;
  const figures: Figures = new Map();
  const empty = anonymousMegabytes(pid);
  const lab = await Lab.create(daemon);
  const nodes = await grow(lab, n, figures);
  await sleep(QUIET_MS);
  const memory = ((anonymousMegabytes(pid) - empty) * 1024) / n;
  const path = (index: number) => `${lab.path}/nodes/${nodes[(index * 7919) % n]!.node_id}`;
  const move = (index: number) => daemon.put(path(index), { x: index + 1, y: n + index });
  const rename = (index: number) => daemon.put(path(index), { name: `Renamed${index}` });
  figures.set('move a node', await costOf(pid, SAMPLE, move));
  figures.set('rename a node', await costOf(pid, SAMPLE, rename));
  figures.set('read a node', await costOf(pid, SAMPLE, (index) => daemon.get(path(index))));
  const list = () => daemon.get(`${lab.path}/nodes`);
  const listing = await costOf(pid, LISTS, list);
  const waitForList = await longestWait(daemon, async () => {
    for (let index = 0; index < LISTS; index++) await list();
  });
  await sleep(QUIET_MS);
  const quiet = () => sleep(QUIET_MS);
  await move(n);
  const writing = await costOf(pid, 1, quiet);
  await move(n + 1);
  const wait = await longestWait(daemon, quiet);
  figures.set('close the lab, each node', await shareOf(pid, n, () => daemon.post(`${lab.path}/close`)));
  figures.set('open the lab, each node', await shareOf(pid, n, () => daemon.post(`${lab.path}/open`)));
  await starts(lab, nodes, figures);
  figures.set('list the nodes', `${listing.clock.toFixed(1)} ms, ${listing.cpu.toFixed(1)} ms CPU`);
  figures.set('longest wait of a request while they are listed', `${waitForList.toFixed(0)} ms`);
  figures.set('memory for each PC with its cable', `${memory.toFixed(0)} KiB`);
  figures.set('topology file, written after a change', `${writing.cpu.toFixed(0)} ms CPU`);
  figures.set('longest wait of a request while it is written', `${wait.toFixed(0)} ms`);
  return figures;
}

/** The same with the program itself. */
async function measureReal(n: number): Promise<Figures> {
  await using daemon = await warmDaemon('vpcs');
  const figures: Figures = new Map();
  const lab = await Lab.create(daemon);
  await starts(lab, await grow(lab, n), figures);
  return figures;
}

/** Ratios are to the processor time at the smallest size. */
function report(title: string, sizes: readonly number[], results: readonly Figures[]): void {
  const [first] = results as [Figures];
  const rows = [...first].map(([row, base]) => [
    row,
    ...results.map((figures) => {
      const figure = figures.get(row)!;
      if (typeof figure === 'string' || typeof base === 'string') return String(figure);
      const ratio = figures === first ? '' : ` (× ${(figure.cpu / base.cpu).toFixed(2)})`;
      return `${figure.clock.toFixed(2)} ms, ${figure.cpu.toFixed(2)} ms CPU${ratio}`;
    }),
  ]);
  process.stdout.write(`${table([[title, ...sizes.map((n) => `n = ${n}`)], ...rows])}\n\n`);
}

async function each(sizes: readonly number[], task: (n: number) => Promise<Figures>): Promise<Figures[]> {
  const results: Figures[] = [];
  for (const n of sizes) results.push(await task(n));
  return results;
}

report('a lab of n PCs', SIZES, await each(SIZES, measure));
report('with real VPCS', REAL_SIZES, await each(REAL_SIZES, measureReal));
