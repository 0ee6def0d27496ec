// What QEMU nodes cost: to create, link, open and start them, and the daemon's memory while they run. Their processors are emulated;
// the machines have no guest and rest in their BIOS.
// Repeat with: npm run bench -- --only qemu
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { splitWords } from '../../src/compute/emulators/qemu/split-options.ts';
import { Daemon, MANY_PORTS } from '../system/daemon.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { anonymousMegabytes, type Cost, costOf, median, table } from './measure.ts';

const SIZES = [50, 500];
/** Aims, in seconds at the largest size, and as a ratio of the cost of one node. */
const CREATE_SECONDS = 5;
const OPEN_SECONDS = 2;
const MOST_GROWTH = 1.2;

const ROUNDS = 15;
const START_MS = 60;
const RUNNING = 40;
const RUNNING_KIB = 40;

const QUIET_MS = 1_500;

const EMULATED = { platform: 'x86_64', ram: 16, options: '-machine accel=tcg', process_priority: 'normal' };

function machine(lab: Lab, properties: object = {}): Promise<NodeObject> {
  const body = { name: 'Q', node_type: 'qemu', compute_id: 'local', properties: { ...EMULATED, ...properties } };
  return lab.daemon.post(`${lab.path}/nodes`, body);
}

/** A lab of n machines, each linked with the next one by pairs. */
async function build(lab: Lab, n: number): Promise<void> {
  const nodes: NodeObject[] = [];
  for (let index = 0; index < n; index++) nodes.push(await machine(lab));
  for (let index = 0; index + 1 < n; index += 2) await lab.link(nodes[index]!, nodes[index + 1]!);
}

interface Labour {
  create: Cost;
  open: Cost;
}

async function labour(n: number): Promise<Labour> {
  await using daemon = await new Daemon({ environment: MANY_PORTS }).start();
  // What the first requests cost is the warming up of the program.
  const warm = await Lab.create(daemon, 'Warm');
  await build(warm, 100);
  await warm.reopen();
  await daemon.delete(warm.path);
  await sleep(QUIET_MS);
  const lab = await Lab.create(daemon);
  const create = await costOf(daemon.pid, 1, () => build(lab, n));
  await sleep(QUIET_MS);
  await daemon.post(`${lab.path}/close`);
  await sleep(QUIET_MS);
  const open = await costOf(daemon.pid, 1, () => daemon.post(`${lab.path}/open`));
  return { create, open };
}

/** What a client says to let a halted machine run, after its greeting. */
const GO = '{"execute": "qmp_capabilities"}\n{"execute": "cont"}\n';

/** How long the machine of a command line takes until it runs: the same two commands that the server gives it are answered. */
async function bareStart(words: readonly string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-bare-'));
  const since = performance.now();
  const child = spawn(words[0]!, words.slice(1), { cwd: directory, stdio: 'ignore' });
  try {
    for (;;) {
      const socket = connect(join(directory, 'qmp.sock'));
      let heard = '';
      socket.write(GO);
      const runs = await new Promise<boolean>((resolve) => {
        socket
          .on('error', () => resolve(false))
          .on('data', (bytes) => {
            heard += bytes.toString();
            if (heard.split('"return"').length > 2) resolve(true);
          });
      });
      socket.destroy();
      if (runs) return performance.now() - since;
      await sleep(1);
    }
  } finally {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  }
}

async function starts(): Promise<{ own: number; bare: number }> {
  await using daemon = await new Daemon({ environment: MANY_PORTS }).start();
  const folder = join(daemon.state, 'images/QEMU');
  mkdirSync(folder, { recursive: true });
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(folder, 'disk.qcow2'), '1G']);
  const lab = await Lab.create(daemon);
  const disk = { hda_disk_image: 'disk.qcow2', hda_disk_interface: 'virtio' };
  const node = await machine(lab, { console_type: 'none', adapters: 0, ...disk });
  const path = `${lab.path}/nodes/${node.node_id}`;
  const own: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const since = performance.now();
    await daemon.post(`${path}/start`);
    const milliseconds = performance.now() - since;
    const { command_line } = await daemon.get(path);
    await daemon.post(`${path}/stop`);
    const other = await bareStart(splitWords(command_line));
    if (round === 0) continue; // the first one loads the program from the disk
    own.push(milliseconds);
    bare.push(other);
  }
  return { own: median(own), bare: median(bare) };
}

/** The daemon's memory for each machine that runs, in KiB. */
async function memory(): Promise<number> {
  await using daemon = await new Daemon({ environment: MANY_PORTS }).start();
  const lab = await Lab.create(daemon);
  await build(lab, 2 * RUNNING);
  const nodes = await lab.nodes();
  const start = (from: number) => Promise.all(nodes.slice(from, from + RUNNING).map((node) => lab.start(node)));
  await start(0);
  await sleep(10_000);
  const before = anonymousMegabytes(daemon.pid);
  await start(RUNNING);
  await sleep(10_000);
  return ((anonymousMegabytes(daemon.pid) - before) * 1024) / RUNNING;
}

const verdict = (kept: boolean): string => (kept ? 'kept' : '**not kept**');

const results: Labour[] = [];
for (const n of SIZES) results.push(await labour(n));
const rows = (['create', 'open'] as const).map((what) => {
  const aim = what === 'create' ? CREATE_SECONDS : OPEN_SECONDS;
  const costs = results.map((result) => result[what]);
  const [least, most] = [costs[0]!.cpu / SIZES[0]!, costs.at(-1)!.cpu / SIZES.at(-1)!];
  const cells = costs.map(({ clock, cpu }) => `${(clock / 1000).toFixed(2)} s, ${(cpu / 1000).toFixed(2)} s CPU`);
  const ratio = most / least;
  const isKept = costs.at(-1)!.clock / 1000 <= aim && ratio <= MOST_GROWTH;
  const aims = `≤ ${aim} s, × ${MOST_GROWTH}: ${verdict(isKept)}`;
  return [`${what} a lab of n QEMU nodes with n/2 links`, ...cells, `× ${ratio.toFixed(2)}`, aims];
});
const head = ['', ...SIZES.map((n) => `n = ${n}`), 'CPU for one node', 'aim'];
process.stdout.write(`${table([head, ...rows])}\n\n`);

const { own, bare } = await starts();
const each = await memory();
const figures = [
  ['', 'measured', 'aim'],
  ['start of a machine, until the answer', `${own.toFixed(0)} ms`, ''],
  ['the same words given to QEMU, until it runs', `${bare.toFixed(0)} ms`, ''],
  ['what the server adds', `${(own - bare).toFixed(0)} ms`, `≤ ${START_MS} ms: ${verdict(own - bare <= START_MS)}`],
  [
    'memory of the daemon for a machine that runs',
    `${each.toFixed(0)} KiB`,
    `≤ ${RUNNING_KIB} KiB: ${verdict(each <= RUNNING_KIB)}`,
  ],
];
process.stdout.write(`${table(figures)}\n`);
