// What routers cost: to create, link and open them, with a program that answers at once in Dynamips' place; and the memory of real ones that run.
// Repeat with: npm run bench -- --only routers
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeImage, noDynamips } from '../compute/router-support.ts';
import { Daemon, MANY_PORTS } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { processesIn } from '../system/processes.ts';
import { table } from './measure.ts';

const ROUTERS = 200;
/** Aims, in seconds for all of them. */
const CREATE_SECONDS = 3;
const OPEN_SECONDS = 1.5;

const RUNNING = 8;
const RAM = 128;
/** Of the image that they run. */
const CONTENT_BYTES = 48 * 1024 * 1024;

const program = process.argv.includes('--from-source') ? FROM_SOURCE : executable();
const scratch = mkdtempSync(join(tmpdir(), 'labwire-bench-'));

function router(lab: Lab, image: string): Promise<NodeObject> {
  const properties = { platform: 'c3600', image, ram: RAM, slot0: 'NM-1FE-TX', slot1: 'NM-4T' };
  return lab.daemon.post(`${lab.path}/nodes`, { name: 'R1', node_type: 'dynamips', compute_id: 'local', properties });
}

function imagesOf(daemon: Daemon): string {
  const folder = join(daemon.state, 'images/IOS');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Routers in a ring of serial links; seconds for the routers, and for the links. */
async function build(lab: Lab, n: number, image: string): Promise<[number, number]> {
  const start = performance.now();
  const nodes: NodeObject[] = [];
  for (let index = 0; index < n; index += 1) nodes.push(await router(lab, image));
  const made = performance.now();
  const end = (node: NodeObject, port_number: number) => ({ node_id: node.node_id, adapter_number: 1, port_number });
  for (const [index, node] of nodes.entries()) {
    const next = nodes[(index + 1) % n]!;
    await lab.daemon.post(`${lab.path}/links`, { nodes: [end(node, 0), end(next, 1)] });
  }
  return [(made - start) / 1000, (performance.now() - made) / 1000];
}

async function labour(): Promise<[number, number, number]> {
  const path = join(scratch, 'dynamips');
  const standIn = join(import.meta.dirname, '../compute/hypervisor-stand-in.mjs');
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${standIn}' well "$@"\n`);
  chmodSync(path, 0o755);
  const config = `[Dynamips]\ndynamips_path = ${path}\n`;
  await using daemon = await new Daemon({ program, config, environment: MANY_PORTS }).start();
  writeFileSync(join(imagesOf(daemon), 'r.image'), Buffer.from('7f454c46010201'.padEnd(128, '0'), 'hex'));
  // What the first requests cost is the warming up of the program.
  const warm = await Lab.create(daemon, 'Warm');
  await build(warm, 50, 'r.image');
  await warm.reopen();
  await daemon.delete(warm.path);
  const lab = await Lab.create(daemon);
  const [nodes, links] = await build(lab, ROUTERS, 'r.image');
  await daemon.post(`${lab.path}/close`);
  const start = performance.now();
  await daemon.post(`${lab.path}/open`);
  return [nodes, links, (performance.now() - start) / 1000];
}

/** MiB of a process and its share of what it has in common with others. */
function shareOfMemory(pid: number): number {
  return Number(/^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) / 1024;
}

/** MiB of a router, of so many that run. */
async function memory(shares: boolean): Promise<number> {
  const config = `[Dynamips]\nghost_ios_support = ${shares}\n`;
  await using daemon = await new Daemon({ program, config, environment: MANY_PORTS }).start();
  const image = await makeImage(imagesOf(daemon), 'c3600', CONTENT_BYTES);
  const lab = await Lab.create(daemon);
  for (let index = 0; index < RUNNING; index += 1) await router(lab, image);
  await daemon.post(`${lab.path}/nodes/start`);
  const pids = (await lab.nodes()).map((node) => processesIn(node.node_directory)[0]!);
  return pids.map(shareOfMemory).reduce((sum, one) => sum + one) / RUNNING;
}

try {
  const [nodes, links, open] = await labour();
  const judged = (value: number, aim: number): string => `${value.toFixed(2)} s (aim: ${aim} s)`;
  const rows = [
    [`${ROUTERS} routers`, ''],
    ['create them', `${nodes.toFixed(2)} s`],
    [`link them, ${ROUTERS} links`, `${links.toFixed(2)} s`],
    ['both', judged(nodes + links, CREATE_SECONDS)],
    ['open the lab', judged(open, OPEN_SECONDS)],
  ];
  if (noDynamips === false) {
    rows.push([`memory of each of ${RUNNING} routers, shared`, `${(await memory(true)).toFixed(0)} MiB`]);
    rows.push(['each with its own', `${(await memory(false)).toFixed(0)} MiB`]);
  } else process.stderr.write(`no real routers: ${noDynamips}\n`);
  process.stdout.write(`${table(rows)}\n`);
} finally {
  rmSync(scratch, { recursive: true });
}
