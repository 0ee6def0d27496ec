// What the relay of the cluster carries between two hosts, each a process here, beside a UDP tunnel between them; and how long the
// nodes of a host that is killed are away.
import { fork } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterFiles, type Membership } from '../../src/cluster/layout.ts';
import type { Cleanup } from '../cleanup.ts';
import { relayOf, threeMembers } from '../cluster/hosts.ts';
import { Nats } from '../cluster/nats.ts';
import { begun, connected, run } from '../system/cluster-hosts.ts';
import { MANY_PORTS } from '../system/daemon.ts';
import { executable } from '../system/executable.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { TwoHosts } from '../system/two-daemons-network.ts';
import { cpuMilliseconds, median, table } from './measure.ts';

const PCS = 200;
const PCS_OF_SWITCH = 7;
const SECONDS = 5;
const FRAME = Buffer.alloc(1_400, 'x');
const ROUND_TRIPS = 500;
/** Frames that are sent before others get the processor. */
const RUN = 16;

async function tunnel(): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/** The far host: counts long frames and sends short ones back. */
async function far(files: ClusterFiles, member: Membership): Promise<void> {
  const socket = await tunnel();
  let bytes = 0;
  const { relay } = await relayOf(files, member);
  socket.on('message', (frame, { port }) => {
    if (frame.length === FRAME.length) bytes += frame.length;
    else socket.send(frame, port, '127.0.0.1');
  });
  process.on('message', (question: { open: number } | 'bytes') => {
    if (question === 'bytes') process.send?.(bytes);
    else
      void relay
        .open(socket.address().port, { host: 'b', port: question.open })
        .then(() => process.send?.(socket.address().port));
  });
  process.send?.('ready');
}

/** Runs with what is to be cleaned up afterwards, the last first. */
async function cleanly(run: (t: Cleanup) => Promise<void>): Promise<void> {
  await using endings = new AsyncDisposableStack();
  await run({ after: (act) => endings.defer(async () => void (await act())) });
}

async function relay(t: Cleanup): Promise<void> {
  const { files, members } = await threeMembers(t);
  const nats = await new Nats(t, files.path('nats.conf')).start();
  const [, b, c] = members as [Membership, Membership, Membership];
  const child = fork(import.meta.filename, [dirname(files.directory), JSON.stringify(c)]);
  t.after(() => child.kill());
  await once(child, 'message');
  const ask = async (question: object | string): Promise<number> => {
    child.send(question);
    return ((await once(child, 'message')) as [number])[0];
  };
  const socket = await tunnel();
  const own = await relayOf(files, b);
  const there = await ask({ open: socket.address().port });
  const here = await own.relay.open(socket.address().port, { host: 'c', port: there });

  const measured = async (port: number): Promise<string[]> => {
    const times: number[] = [];
    for (let round = 0; round < ROUND_TRIPS; round += 1) {
      const since = performance.now();
      socket.send('short', port, '127.0.0.1');
      await once(socket, 'message');
      times.push(performance.now() - since);
    }
    const pids = [process.pid, child.pid!, nats.pid];
    const before = pids.map(cpuMilliseconds);
    const first = await ask('bytes');
    const end = performance.now() + SECONDS * 1_000;
    while (performance.now() < end) {
      for (let frame = 0; frame < RUN; frame += 1) socket.send(FRAME, port, '127.0.0.1');
      await new Promise(setImmediate);
    }
    const bytes = (await ask('bytes')) - first;
    const cpu = pids.map((pid, index) => (cpuMilliseconds(pid) - before[index]!) / (SECONDS * 1_000));
    await sleep(1_000);
    return [
      `${Math.round((bytes * 8) / SECONDS / 1e6)} Mbit/s`,
      `${(median(times) * 1_000).toFixed(0)} µs`,
      ...cpu.map((cores) => cores.toFixed(2)),
    ];
  };
  const rows = [
    ['', 'frames of 1,400 bytes', 'round trip', 'cores of the sender', 'of the receiver', 'of NATS'],
    ['UDP tunnel', ...(await measured(there))],
    ['relay over NATS', ...(await measured(here))],
  ];
  process.stdout.write(`${table(rows)}\n`);
}

/** Kills a host with PCs behind switches, and waits until all run on the other one. */
async function loss(t: Cleanup): Promise<void> {
  const hosts = TwoHosts.make(t);
  const { a, b, line } = await begun(t, hosts, hosts.compute.inside, { environment: MANY_PORTS });
  run(...hosts.compute.inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--state', b.state);
  await b.start();
  const { compute_id } = await connected(a);
  const lab = await Lab.create(a, 'Loss');
  let joint: NodeObject | undefined;
  for (let index = 0; index < PCS; index += 1) {
    const members = { name: `S${index}`, node_type: 'ethernet_switch', compute_id };
    if (index % PCS_OF_SWITCH === 0) joint = await a.post(`${lab.path}/nodes`, members);
    await lab.link(await lab.pc(`P${index}`, { compute_id }), joint!, index % PCS_OF_SWITCH);
  }
  await a.post(`${lab.path}/nodes/start`);
  await b.kill();
  const since = performance.now();
  const seconds = (): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;
  const reached = async (wanted: (nodes: readonly Placed[]) => boolean): Promise<string> => {
    while (!wanted((await lab.nodes()) as unknown as Placed[])) await sleep(100);
    return seconds();
  };
  const first = await reached((nodes) => nodes.some((node) => node.compute_id === 'local'));
  const last = await reached((nodes) =>
    nodes.every((node) => node.compute_id === 'local' && node.status === 'started'),
  );
  const count = (await lab.nodes()).length;
  const rows = [
    ['nodes of the host that is killed', 'links', 'first one runs elsewhere after', 'all of them after'],
    [`${count}`, `${PCS}`, first, last],
  ];
  process.stdout.write(`\n${table(rows)}\n`);
}

interface Placed {
  compute_id: string;
  status: string;
}

const [, , state, member] = process.argv;
if (state === undefined || member === undefined) {
  await cleanly(relay);
  await cleanly(loss);
  process.exit();
} else await far(new ClusterFiles(state), JSON.parse(member) as Membership);
