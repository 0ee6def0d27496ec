// What virtual PCs cost: n of them at hubs, started by one call, each of them pinged. The built-in ones beside the vpcs program.
// Repeat with: npm run bench -- --only pcs
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, MANY_PORTS } from '../system/daemon.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { anonymousMegabytes, cpuMilliseconds, table } from './measure.ts';

/** Of a hub as the API makes it. */
const HUB_PORTS = 8;
/** Until every PC has looked for a duplicate of its address, and the server has given back what only the work took (src/start/idle-memory-trimmer.ts). */
const REST_MS = 10_000;
const IDLE_MS = 10_000;
const ANSWER_MS = 60_000;

/** PCs at hubs of eight ports; the nth of a hub has 10.0.0.n. Answers them by hub. */
async function build(lab: Lab, count: number): Promise<NodeObject[][]> {
  const hubs: NodeObject[][] = [];
  for (let index = 0; index < count; index++) {
    const port = index % HUB_PORTS;
    if (port === 0) hubs.push([await lab.hub('Hub1')]);
    const hub = hubs.at(-1)!;
    const startup_script = `ip 10.0.0.${port + 1}/24\n`;
    const pc = await lab.pc('PC1', { properties: { startup_script } });
    await lab.link(pc, hub[0]!, port);
    hub.push(pc);
  }
  return hubs.map(([, ...pcs]) => pcs);
}

/** Has the first PC of a hub ping the others, and the second ping the first; answers how many answered. */
async function pingHub([first, second, ...others]: NodeObject[]): Promise<number> {
  const answered = (text: string): number => text.match(/icmp_seq=1 ttl=64/g)?.length ?? 0;
  const addresses = [second, ...others].map((_, index) => `10.0.0.${index + 2}`);
  const fromFirst = await type(first!, addresses);
  const fromSecond = await type(second!, ['10.0.0.1']);
  return answered(fromFirst) + answered(fromSecond);
}

/** What the console shows of a ping to each address. */
async function type({ console: port }: NodeObject, addresses: readonly string[]): Promise<string> {
  const socket = connect(port!, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  for (const address of addresses) {
    const from = text.length;
    socket.write(`ping ${address} -c 1\r`);
    const end = performance.now() + ANSWER_MS;
    while (!/(icmp_seq=1|not reachable)[\s\S]*> $/.test(text.slice(from)) && performance.now() < end) await sleep(5);
  }
  socket.destroy();
  return text;
}

/** What it takes until all PCs run, asked for by one call of the controller, or of the compute for each; time and the server's CPU. */
async function start(lab: Lab, pcs: readonly NodeObject[], by: 'controller' | 'compute'): Promise<string> {
  const { pid } = lab.daemon;
  const [begin, before] = [performance.now(), cpuMilliseconds(pid)];
  if (by === 'controller') await lab.daemon.post(`${lab.path}/nodes/start`);
  else {
    const path = `/v2/compute/projects/${lab.project.project_id}/vpcs/nodes`;
    await Promise.all(pcs.map(({ node_id }) => lab.daemon.post(`${path}/${node_id}/start`)));
  }
  const [clock, cpu] = [performance.now() - begin, cpuMilliseconds(pid) - before];
  return `${(clock / 1000).toFixed(2)} s, ${(cpu / 1000).toFixed(2)} s CPU`;
}

async function measure(engine: 'built-in' | 'vpcs', count: number): Promise<string[]> {
  await using daemon = await new Daemon({ environment: { ...MANY_PORTS, LABWIRE_VPCS_ENGINE: engine } }).start();
  const atRest = async (): Promise<number> => {
    await sleep(REST_MS);
    return anonymousMegabytes(daemon.pid);
  };
  const empty = await atRest();
  const lab = await Lab.create(daemon);
  const hubs = await build(lab, count);
  const pcs = hubs.flat();
  const stopped = await atRest();
  const byController = await start(lab, pcs, 'controller');
  const running = await atRest();
  const each = (more: number, less: number): string => `${(((more - less) * 1024) / count).toFixed(1)} KiB`;
  const before = cpuMilliseconds(daemon.pid);
  await sleep(IDLE_MS);
  const idle = ((cpuMilliseconds(daemon.pid) - before) / IDLE_MS) * 100;
  let answered = 0;
  for (const hub of hubs) answered += await pingHub(hub);
  await daemon.post(`${lab.path}/nodes/stop`);
  const byCompute = await start(lab, pcs, 'compute');
  await daemon.post(`${lab.path}/nodes/stop`);
  return [
    engine === 'built-in' ? 'built in' : 'the program',
    `${count}`,
    byController,
    byCompute,
    each(running, stopped),
    each(running, empty),
    `${idle.toFixed(2)} %`,
    `${answered}`,
  ];
}

const head = [
  'PCs',
  'n',
  'started by the controller',
  'by the compute',
  "the server's memory for each that runs",
  'with its node, cable and share of a hub',
  "the server's CPU, idle",
  'answer pings',
];
const rows = [await measure('built-in', 1000), await measure('built-in', 104), await measure('vpcs', 104)];
process.stdout.write(`${table([head, ...rows])}\n`);
