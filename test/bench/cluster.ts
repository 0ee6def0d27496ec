// What the relay of the cluster carries between two hosts, each a process here, beside a UDP tunnel between them.
import { fork } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterFiles, type Membership } from '../../src/cluster/layout.ts';
import { relayOf, threeMembers } from '../cluster/hosts.ts';
import { Nats } from '../cluster/nats.ts';
import { cpuMilliseconds, median, table } from './measure.ts';

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

async function near(): Promise<void> {
  const endings: (() => unknown)[] = [];
  const t = { after: (act: () => unknown) => void endings.unshift(act) };
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
  const { relay } = await relayOf(files, b);
  const there = await ask({ open: socket.address().port });
  const here = await relay.open(socket.address().port, { host: 'c', port: there });

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
  for (const act of endings) await act();
  process.exit();
}

const [, , state, member] = process.argv;
if (state === undefined || member === undefined) await near();
else await far(new ClusterFiles(state), JSON.parse(member) as Membership);
