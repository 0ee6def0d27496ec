// How long the executable takes from its start until it serves, and what it needs at rest.
// Beside it, in the same run: the pinned Node with a bare node:http server, which is what no program on Node can be below.
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeTcpPort } from '../free-tcp-port.ts';
import { Daemon } from '../system/daemon.ts';
import { executable } from '../system/executable.ts';
import { anonymousMegabytes, cpuMilliseconds, median, table } from './measure.ts';

const ROUNDS = 15;
/** Milliseconds of rest before memory and CPU are read, and for how long CPU is watched. */
const REST_MS = 10_000;

const BARE = 'require("node:http").createServer((q, a) => a.end("{}")).listen(Number(process.argv[1]), "127.0.0.1")';

/** Asks until the server answers; gives the milliseconds that took. */
async function firstAnswer(port: number, since: number, path: string): Promise<number> {
  for (;;) {
    const answered = await new Promise<boolean>((resolve) => {
      const asked = request({ host: '127.0.0.1', port, path }, (answer) =>
        answer.resume().on('end', () => resolve(true)),
      );
      asked.on('error', () => resolve(false)).end();
    });
    if (answered) return performance.now() - since;
    await sleep(1);
  }
}

async function bareRound(): Promise<number> {
  const port = await freeTcpPort();
  const since = performance.now();
  const child = spawn(process.execPath, ['-e', BARE, String(port)], { stdio: 'ignore' });
  const milliseconds = await firstAnswer(port, since, '/');
  child.kill('SIGKILL');
  return milliseconds;
}

/** Until the list of labs, for which all of the server has to be there. */
async function ownRound(): Promise<number> {
  await using daemon = new Daemon();
  daemon.port = await freeTcpPort();
  const since = performance.now();
  await daemon.spawn();
  // Awaited here: the daemon ends with this function.
  return await firstAnswer(daemon.port, since, '/v2/projects');
}

executable(); // built now if it is stale, and not while the first round is timed
const own: number[] = [];
const bare: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  own.push(await ownRound());
  bare.push(await bareRound());
}
await using resting = new Daemon();
await resting.start();
await sleep(REST_MS);
const memory = anonymousMegabytes(resting.pid);
const before = cpuMilliseconds(resting.pid);
await sleep(REST_MS);
const cpu = (cpuMilliseconds(resting.pid) - before) / REST_MS;

const shown = (values: number[]): string =>
  `${median(values).toFixed(0)} ms (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
process.stdout.write(
  `${table([
    ['', 'labwired', 'bare node:http'],
    [`start until it serves, median of ${ROUNDS} (least to most)`, shown(own), shown(bare)],
    ['anonymous memory at rest', `${memory.toFixed(1)} MiB`, ''],
    ['CPU at rest, of one core', `${(cpu * 100).toFixed(2)} %`, ''],
  ])}\n`,
);
