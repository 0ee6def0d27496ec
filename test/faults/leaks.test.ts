// The same things again and again on the whole server, with real programs, sockets and files: afterwards it has no more of the host than before.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { TestEngine } from '../compute/docker-engine.ts';
import { type Daemon, eventually, startDaemon } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';
import { Lab, type LinkObject, missing, type NodeObject } from '../system/lab.ts';
import { container, engineFor, machine, withEngine } from '../system/machines.ts';
import { type Census, censusOf, changes, memoryOf } from './census.ts';
import { type Figure, FULL, rig } from './rig.ts';
import { forEachAtOnce } from './wire.ts';

const CYCLES = FULL ? 200 : 6;
const CLIENTS = FULL ? 1_000 : 60;
/** Programs take half a second each to come and go. */
const PROGRAM_CYCLES = FULL ? 200 : 2;
const AT_ONCE = 8;

/** Memory is looked at so often in a run. */
const LOOKS = 10;

/** What is attacked, and by how many MiB it may grow over the second half of a run. */
interface Server {
  name: string;
  program: readonly string[];
  growthMib: number;
}

const [node, ...main] = FROM_SOURCE as [string, ...string[]];
/** With much memory V8 puts off collecting what nobody has any more; in a small heap what grows is what is kept. */
const SMALL_HEAP: Server = {
  name: 'source, small heap',
  program: [node, '--max-old-space-size=64', '--max-semi-space-size=1', ...main],
  growthMib: FULL ? 8 : 24,
};
/** What people run. No option of V8 can be given to it, so that its heap may grow further before V8 collects. */
const EXECUTABLE = (): Server => ({ name: 'executable', program: executable(), growthMib: FULL ? 16 : 24 });

interface Subject {
  daemon: Daemon;
  lab: Lab;
  pcs: NodeObject[];
  links: LinkObject[];
  /** Another lab, whose nodes may change. */
  small: Lab;
}

interface Activity {
  what: string;
  times: number;
  /** In the order in which they are done; `AT_ONCE` at the same time where that is what users do. */
  once: (subject: Subject, index: number) => Promise<void>;
  together?: true;
  /** What holds while it is done. */
  around?: { before: (subject: Subject) => Promise<void>; after: (subject: Subject) => Promise<void> };
}

/** What the nodes are that run something: PCs of an engine, or machines of QEMU and, where there is a Docker Engine, containers. */
type Programs = 'built-in' | 'vpcs' | 'machines' | 'machines and containers';

/** Twenty nodes in a row, with filters and impairments on the links: nodes that run something, and others that need no program. */
async function makeLab(daemon: Daemon, programs: Programs, pcCount: number): Promise<Subject> {
  const lab = await Lab.create(daemon, 'Cycles');
  const make = (name: string, node_type: string): Promise<NodeObject> =>
    daemon.post(`${lab.path}/nodes`, { name, node_type, compute_id: 'local' });
  const pcs: NodeObject[] = [];
  const links: LinkObject[] = [];
  const others: NodeObject[] = [];
  for (let index = 0; index < 20 - pcCount; index++) {
    others.push(await make(`Node${index}`, index % 2 === 0 ? 'ethernet_switch' : 'ethernet_hub'));
  }
  const join = async (one: NodeObject, port: number, other: NodeObject, far: number): Promise<void> => {
    const nodes = [
      { node_id: one.node_id, adapter_number: 0, port_number: port },
      { node_id: other.node_id, adapter_number: 0, port_number: far },
    ];
    const more =
      links.length % 2 === 0 ? { filters: { packet_loss: [1] } } : { impairments: { both: { delay: { ms: 1 } } } };
    links.push(await daemon.post(`${lab.path}/links`, { nodes, ...more }));
  };
  for (let index = 0; index < pcCount; index++) {
    const startup_script = `ip 10.0.0.${index + 1}/24\n`;
    const name = `PC${index + 1}`;
    const isContainer = programs === 'machines and containers' && index % 2 === 1;
    pcs.push(
      programs === 'built-in' || programs === 'vpcs'
        ? await lab.pc(name, { properties: { startup_script } })
        : await (isContainer ? container(lab, name, { extra_volumes: ['/kept'] }) : machine(lab, name)),
    );
    await join(pcs[index]!, 0, others[index % others.length]!, 0);
  }
  for (const [index, one] of others.entries()) {
    const next = others[index + 1];
    if (next) await join(one, 1, next, 2);
  }
  const small = await Lab.create(daemon, 'Small');
  await small.link(await small.pc('PC1'), await small.hub('Hub1'));
  return { daemon, lab, pcs, links, small };
}

/** Connects to a console, waits for its first bytes, and leaves without a word. */
async function visit({ daemon, lab, pcs }: Subject, index: number): Promise<void> {
  const pc = pcs[index % pcs.length]!;
  if (index % 2 === 0) {
    const socket = connect(pc.console, '127.0.0.1');
    await once(socket, 'data');
    socket.destroy();
    return;
  }
  const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}${lab.path}/nodes/${pc.node_id}/console/ws`);
  await once(socket, 'message');
  socket.terminate();
}

/** Listens to what a lab or the server tells, over HTTP or a WebSocket, until it has heard something. */
async function listen({ daemon, lab }: Subject, index: number): Promise<void> {
  const path = `${index % 4 < 2 ? lab.path : '/v2'}/notifications`;
  if (index % 2 === 0) {
    const request = get(`${daemon.url}${path}`, { agent: false });
    request.on('error', () => {});
    const [response] = await once(request, 'response');
    await once(response, 'data');
    response.destroy();
    return;
  }
  const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}${path}/ws`);
  await once(socket, 'message');
  socket.terminate();
}

const running: Activity['around'] = {
  before: async ({ daemon, lab }) => void (await daemon.post(`${lab.path}/nodes/start`)),
  after: async ({ daemon, lab }) => void (await daemon.post(`${lab.path}/nodes/stop`)),
};

const cyclesOf = (times: number): Activity[] => [
  {
    what: 'starts and stops of 20 nodes',
    times,
    async once({ daemon, lab }) {
      await daemon.post(`${lab.path}/nodes/start`);
      await daemon.post(`${lab.path}/nodes/stop`);
    },
  },
  { what: 'closings and openings of the lab', times, once: ({ lab }) => lab.reopen() },
  { what: 'consoles attached and detached', times: CLIENTS, once: visit, together: true, around: running },
  {
    what: 'captures made and ended',
    times,
    async once({ daemon, lab, links }, index) {
      const path = `${lab.path}/links/${links[index % 2]!.link_id}`;
      await daemon.post(`${path}/start_capture`, { capture_file_name: `capture${index % 2}.pcap` });
      const request = get(`${daemon.url}${path}/pcap`, { agent: false });
      request.on('error', () => {});
      const [response] = await once(request, 'response');
      await once(response, 'data');
      response.destroy();
      await daemon.post(`${path}/stop_capture`);
    },
    around: running,
  },
];

const OTHERS: Activity[] = [
  {
    what: 'projects created and deleted',
    times: CYCLES,
    async once({ daemon }, index) {
      const { project_id: id } = await daemon.post('/v2/projects', { name: `Short ${index}` });
      await daemon.post(`/v2/projects/${id}/nodes`, { name: 'Hub', node_type: 'ethernet_hub', compute_id: 'local' });
      await daemon.delete(`/v2/projects/${id}`);
    },
  },
  {
    what: 'copies of the lab made and deleted',
    times: CYCLES,
    async once({ daemon, lab }, index) {
      const { project_id: id } = await daemon.post(`${lab.path}/duplicate`, { name: `Copy ${index}` });
      await daemon.delete(`/v2/projects/${id}`);
    },
  },
  {
    what: 'snapshots taken, restored and deleted',
    times: Math.ceil(CYCLES / 10),
    async once({ daemon, small: lab }) {
      const { snapshot_id: id } = await daemon.post(`${lab.path}/snapshots`, { name: 'then' });
      await daemon.post(`${lab.path}/snapshots/${id}/restore`);
      const [{ snapshot_id: now }] = await daemon.get(`${lab.path}/snapshots`);
      await daemon.delete(`${lab.path}/snapshots/${now}`);
    },
  },
  { what: 'notification streams opened and left', times: CLIENTS, once: listen, together: true },
];

async function repeat(subject: Subject, activity: Activity, times: number, looks: number): Promise<number[]> {
  const { daemon } = subject;
  const memory: number[] = [];
  const step = Math.max(1, Math.ceil(times / looks));
  await activity.around?.before(subject);
  for (let first = 0; first < times; first += step) {
    const indexes = Array.from({ length: Math.min(step, times - first) }, (_, index) => first + index);
    await forEachAtOnce(indexes, activity.together ? AT_ONCE : 1, (index) => activity.once(subject, index));
    const { daemon: own, supervisor } = memoryOf(daemon);
    memory.push(own + supervisor);
  }
  await activity.around?.after(subject);
  return memory;
}

/** Everything is back to what it was; what is not yet gone gets time to go. */
async function settled(daemon: Daemon, before: Census, engine: TestEngine | undefined): Promise<void> {
  await eventually(
    'what was taken to be given back',
    async () => changes(before, await censusOf(daemon, engine)),
    (left) => left.length === 0,
  );
}

async function attack(
  t: TestContext,
  { name, program, growthMib }: Server,
  programs: Programs,
  pcs: number,
  activities: readonly Activity[],
  engine?: TestEngine,
): Promise<Figure[]> {
  const environment = {
    LABWIRE_VPCS_ENGINE: programs === 'vpcs' ? 'vpcs' : 'built-in',
    ...(engine && withEngine(engine).environment),
  };
  const daemon = await startDaemon(t, { program, environment });
  const subject = await makeLab(daemon, programs, pcs);
  // What is made once and kept, such as threads, is made now.
  for (const activity of activities) await repeat(subject, activity, activity.together ? 2 * AT_ONCE : 2, 1);
  let before: Census = {};
  await eventually('a state that stays', async () => {
    const last = before;
    // Connections with an Engine are kept for 5 s, and a lab's file is written a second after its last change.
    await sleep(engine ? 6_000 : 2_000);
    before = await censusOf(daemon, engine);
    return changes(last, before).length === 0;
  });
  const figures: Figure[] = [];
  const nodes = programs.startsWith('machines') ? programs : `${programs} PCs`;
  for (const activity of activities) {
    const memory = await repeat(subject, activity, activity.times, LOOKS);
    await settled(daemon, before, engine);
    const growth = memory.at(-1)! - memory[Math.floor(memory.length / 2)]!;
    assert.ok(
      growth <= growthMib,
      `${activity.what}: memory grows: ${memory.map((mebibytes) => mebibytes.toFixed(1)).join(' ')}`,
    );
    figures.push({
      what: `${activity.what} (${name}, ${nodes})`,
      value: `${activity.times}, memory ${growth >= 0 ? '+' : ''}${growth.toFixed(1)} MiB`,
    });
  }
  const descriptors = Object.entries(before).filter(([what]) => what.startsWith('descriptors'));
  figures.push({
    what: `descriptors before and after (${name}, ${nodes})`,
    value: descriptors.reduce((sum, [, count]) => sum + count, 0),
  });
  return figures;
}

rig({ name: 'leaks', promise: 'starting and stopping, opening and closing leave nothing behind' }, async (t) => {
  const small = await attack(t, SMALL_HEAP, 'built-in', 8, [...cyclesOf(CYCLES), ...OTHERS]);
  const packed = await attack(t, EXECUTABLE(), 'built-in', 8, [...cyclesOf(CYCLES), ...OTHERS]);
  const programs = missing('vpcs') ? [] : await attack(t, EXECUTABLE(), 'vpcs', 3, cyclesOf(PROGRAM_CYCLES));
  // Without a guest a machine says nothing at its console, nor does a container that has no cause.
  const cycles = cyclesOf(PROGRAM_CYCLES).filter(({ around, together }) => !(around && together));
  const engine = missing('qemu-system-x86_64') ? 'no machines' : await engineFor(t);
  const machines = missing('qemu-system-x86_64')
    ? []
    : typeof engine === 'string'
      ? await attack(t, SMALL_HEAP, 'machines', 2, cycles)
      : await attack(t, SMALL_HEAP, 'machines and containers', 4, cycles, engine);
  return [...small, ...packed, ...programs, ...machines];
});
