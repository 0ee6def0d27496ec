// What a cluster of many hosts costs its controller: the real executable and a real NATS, and stand-ins for the other hosts in processes of
// their own, which hold real leases and answer over NATS (cluster-stand-ins.ts).
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterFiles } from '../../src/cluster/layout.ts';
import { newUser } from '../../src/cluster/nats-users.ts';
import { admit, newJoinLine } from '../../src/cluster/registry.ts';
import { parseJoinLine } from '../../src/cluster/token.ts';
import type { Cleanup } from '../cleanup.ts';
import { Nats } from '../cluster/nats.ts';
import { zip } from '../controller/archives-zip.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { run } from '../system/cluster-hosts.ts';
import { type Daemon, eventually, ownDaemon } from '../system/daemon.ts';
import { executable } from '../system/executable.ts';
import { anonymousMegabytes, cpuMilliseconds, isShort, median, table } from './measure.ts';

/** Of a lab: switches in a row by their last two ports, each with PCs. */
const SWITCHES = 72;
const NODES = 500;

const SIZES = isShort
  ? [{ hosts: 20, labs: 2, lost: 2 }]
  : [
      { hosts: 20, labs: 4, lost: 1 },
      { hosts: 200, labs: 40, lost: 10 },
    ];
const PLANS = isShort ? 2 : 5;
/** A round of copies of files is in it. The first one, which is longer, and the files of new labs are done before. */
const REST_SECONDS = isShort ? 10 : 60;
const LIMIT_MS = 600_000;

interface LabParts {
  nodes: { name: string; node_type: string; node_id: string }[];
  /** Nodes, and the port of each. */
  links: [[string, number], [string, number]][];
}

function labParts(): LabParts {
  const nodes: LabParts['nodes'] = [];
  const links: LabParts['links'] = [];
  const add = (name: string, type: string): string => {
    const id = randomUUID();
    nodes.push({ name, node_type: type, node_id: id });
    return id;
  };
  const switches = Array.from({ length: SWITCHES }, (_, index) => add(`S${index}`, 'ethernet_switch'));
  for (let index = 1; index < SWITCHES; index += 1)
    links.push([
      [switches[index - 1]!, 7],
      [switches[index]!, 6],
    ]);
  for (let index = 0; nodes.length < NODES; index += 1)
    links.push([
      [add(`PC${index}`, 'vpcs'), 0],
      [switches[index % SWITCHES]!, Math.floor(index / SWITCHES)],
    ]);
  return { nodes, links };
}

/** A lab whose nodes get hosts while it is imported. */
async function imported(daemon: Daemon, name: string): Promise<string> {
  const { nodes, links } = labParts();
  const id = randomUUID();
  const end = ([node_id, port_number]: [string, number]) => ({ node_id, adapter_number: 0, port_number });
  const topology = {
    ...{ computes: [], drawings: [] },
    nodes: nodes.map((node) => ({ ...node, compute_id: 'auto' })),
    links: links.map((ends) => ({ link_id: randomUUID(), nodes: ends.map(end) })),
  };
  const lab = { type: 'topology', revision: 9, version: '2.2.57', project_id: id, name, auto_close: false, topology };
  const archive = zip([{ name: 'project.gns3', data: JSON.stringify(lab) }]);
  await daemon.post(`/v2/projects/${id}/import?name=${name}`, archive);
  await daemon.post(`/v2/projects/${id}/open`);
  await daemon.post(`/v2/projects/${id}/nodes/start`);
  return id;
}

/** State directories of hosts that have joined; their cluster has not begun to run. */
async function joinedHosts(files: ClusterFiles, directory: string, count: number): Promise<string[]> {
  const controller = await files.member();
  const states: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { seed, user } = newUser();
    const [host, id] = [`h${index}`, randomUUID()];
    const { secret } = parseJoinLine(await newJoinLine(files, controller));
    const { claim } = await admit(files, controller, { name: host, id, user, cluster: 'lab', secret });
    const { cluster, servers } = controller;
    const state = join(directory, host);
    const own = new ClusterFiles(state);
    await own.create();
    await own.write('ca.pem', await files.authorityCertificate());
    await own.setMembership({ cluster, servers, host, id, controller: false, seed, ...(claim && { claim }) });
    states.push(state);
  }
  return states;
}

async function standIns(t: Cleanup, states: readonly string[]): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'cluster-stand-ins.ts'), states);
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

const milliseconds = (value: number): string => `${Math.round(value)} ms`;
const seconds = (value: number): string => `${(value / 1_000).toFixed(1)} s`;
const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Times of a placement of a lab that is not made. */
async function plans(daemon: Daemon): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < PLANS; round += 1) {
    const { nodes, links } = labParts();
    const names = new Map(nodes.map(({ node_id: id, name }) => [id, name]));
    const body = {
      nodes: nodes.map(({ name, node_type }) => ({ name, node_type })),
      links: links.map((ends) => ends.map(([id]) => names.get(id))),
    };
    // What hosts answered to the last one is used again for 2 s.
    await sleep(2_500);
    const since = performance.now();
    await daemon.post('/v2/placement', body);
    times.push(performance.now() - since);
  }
  return times;
}

async function measured(t: Cleanup, { hosts, labs, lost }: (typeof SIZES)[number]): Promise<string[]> {
  const program = executable();
  const daemon = ownDaemon(t);
  const words = ['--name', 'lab', '--host-name', 'a', '--address', `127.0.0.1:${await freeTcpPort()}`];
  run(...program, 'cluster', 'init', ...words, '--state', daemon.state);
  const files = new ClusterFiles(daemon.state);
  const states = await joinedHosts(files, join(daemon.directory, 'hosts'), hosts);
  const nats = await new Nats(t, files.path('nats.conf')).start();
  await daemon.start();
  const doomed = await standIns(t, states.slice(0, lost));
  await standIns(t, states.slice(lost));
  type Computes = { compute_id: string; name: string; connected: boolean }[];
  const connected = async (): Promise<Computes> =>
    ((await daemon.get('/v2/computes')) as Computes).filter((one) => one.connected && one.compute_id.length > 8);
  await eventually('all hosts', connected, (found) => found.length === hosts);
  // The controller's host runs no nodes: its processor time is that of the controller.
  await daemon.post('/v2/computes/local/drain');
  const ids: string[] = [];
  const since = performance.now();
  for (let index = 0; index < labs; index += 1) ids.push(await imported(daemon, `Lab${index}`));
  const made = performance.now() - since;

  const cpuNow = (): [number, number] => [cpuMilliseconds(daemon.pid), cpuMilliseconds(nats.pid)];
  await sleep(REST_SECONDS * 1_000);
  const before = cpuNow();
  await sleep(REST_SECONDS * 1_000);
  const [own, ofNats] = cpuNow().map((cpu, index) => (cpu - before[index]!) / (REST_SECONDS * 1_000));
  const [anonymous, resident] = [anonymousMegabytes(daemon.pid), residentMegabytes(daemon.pid)];
  const plan = median(await plans(daemon));

  const gone = new Set(
    (await connected()).filter(({ name }) => Number(name.slice(1)) < lost).map(({ compute_id: id }) => id),
  );
  const placed = await Promise.all(ids.map((id) => daemon.get(`/v2/projects/${id}/placement`)));
  const at = placed.flatMap(({ nodes }) => (nodes as { compute_id: string }[]).map(({ compute_id: id }) => id));
  const there = at.filter((id) => gone.has(id)).length;
  const said = daemon.log.length;
  const says = (text: RegExp): string[] => daemon.log.slice(said).match(new RegExp(text, 'g')) ?? [];
  doomed.kill('SIGKILL');
  await eventually('a lost host', () => says(/a host is gone/).length > 0, Boolean, LIMIT_MS);
  const [begun, cpu] = [performance.now(), cpuNow()[0]];
  const moved = (): number =>
    says(/run elsewhere.*moved=\d+/).reduce((sum, line) => sum + Number(/moved=(\d+)/.exec(line)?.[1]), 0);
  await eventually('all nodes elsewhere', moved, (count) => count === there, LIMIT_MS);
  const [took, used] = [performance.now() - begun, cpuNow()[0] - cpu];
  return [
    `${hosts}`,
    `${labs * NODES}`,
    seconds(made),
    `${((own ?? 0) * 100).toFixed(1)} %`,
    `${((ofNats ?? 0) * 100).toFixed(1)} %`,
    `${Math.round(anonymous)} MiB (${Math.round(resident)} MiB)`,
    milliseconds(plan),
    `${there} of ${lost}`,
    seconds(took),
    seconds(used),
  ];
}

const rows: string[][] = [
  [
    'hosts',
    'nodes',
    'labs made, opened and started in',
    'a core of the controller',
    'of NATS',
    'memory of its own (resident)',
    `placement of ${NODES} nodes`,
    'nodes of lost hosts',
    'all run elsewhere after',
    'CPU of the controller for that',
  ],
];
for (const size of SIZES) {
  await using endings = new AsyncDisposableStack();
  rows.push(await measured({ after: (act) => endings.defer(async () => void (await act())) }, size));
}
process.stdout.write(`${table(rows)}\n`);
process.exit();
