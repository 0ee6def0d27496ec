// What the start and the stop of a container's node cost over the Engine's own: the same image, in turns.
// Repeat with: npm run bench -- --only docker
import { BUSYBOX, tryEngine } from '../compute/docker-engine.ts';
import { Daemon } from '../system/daemon.ts';
import { executable } from '../system/executable.ts';
import { Lab } from '../system/lab.ts';
import { median, table } from './measure.ts';

const ROUNDS = 15;
/** Aim, in milliseconds over `docker start`. */
const START_MS = 200;

const engine = await tryEngine();
if (typeof engine === 'string') {
  process.stderr.write(`${engine}\n`);
  process.exit(2);
}
await using held = engine;
const environment = { LABWIRE_DOCKER_SOCKET_PATH: held.socketPath };
await using daemon = await new Daemon({ program: executable(), environment }).start();
const lab = await Lab.create(daemon);
const properties = { image: BUSYBOX, adapters: 4 };
const body = { name: 'C', node_type: 'docker', compute_id: 'local', console_type: 'telnet', properties };
const { node_id: node } = await daemon.post(`${lab.path}/nodes`, body);
const bare = { Image: BUSYBOX, Tty: true, OpenStdin: true, NetworkDisabled: true };
const { Id: container } = await held.engine.call<{ Id: string }>('POST', 'containers/create', { body: bare });

async function took(task: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await task();
  return performance.now() - begun;
}

const times = { node: [] as number[], engine: [] as number[], stop: [] as number[], kill: [] as number[] };
// The first of each is the warming up.
for (let round = 0; round <= ROUNDS; round += 1) {
  const start = await took(() => daemon.post(`${lab.path}/nodes/${node}/start`));
  const stop = await took(() => daemon.post(`${lab.path}/nodes/${node}/stop`));
  const alone = await took(() => held.engine.call('POST', `containers/${container}/start`));
  const kill = await took(() => held.engine.call('POST', `containers/${container}/stop?t=0`));
  if (round === 0) continue;
  times.node.push(start);
  times.stop.push(stop);
  times.engine.push(alone);
  times.kill.push(kill);
}
const row = (name: string, own: number[], alone: number[]): string[] => [
  name,
  median(own).toFixed(0),
  median(alone).toFixed(0),
  (median(own) - median(alone)).toFixed(0),
];
const rows = [row('start, 4 adapters', times.node, times.engine), row('stop', times.stop, times.kill)];
process.stdout.write(`${table([['', 'node, ms', 'Engine alone, ms', 'over it, ms'], ...rows])}\n`);
if (Number(rows[0]![3]) > START_MS) process.exitCode = 1;
