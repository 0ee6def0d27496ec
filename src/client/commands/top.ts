// `labwired top`: live view of a lab: its nodes, the traffic of its links, and the load of the hosts.
import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadFigures, NodeLoads } from '../../api/node-loads.ts';
import type { HostLoad, LinkObject, NodeObject, ProjectObject } from '../../api/objects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { unavailable } from '../../failures.ts';
import { tableLines } from '../../host/terminal/table.ts';
import { harmless } from '../../host/terminal/terminal-text.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { endText } from '../server/link-ends.ts';
import { type Flow, type LinkCounters, type LinkFlows, ofNode, type Rate, Traffic } from '../server/link-rates.ts';
import { bytesPerSecond, inBytes } from '../terminal/figures.ts';
import { fullScreen } from '../terminal/full-screen.ts';
import { secondsOf } from '../terminal/seconds.ts';
import { windowSize } from '../terminal/window-size.ts';

const USUAL_SECONDS = 1;
/** The server sends counters within these limits. */
const SECONDS = { least: 0.2, most: 60 };
/** A message that is under way at the end of the interval is waited for. */
const SLACK = 1.3;

/** Nodes and hosts change less often than counters. */
const LEAST_ASKING_MS = 2_000;

/** Sort orders of nodes, with their keys. */
const SORTS = { cpu: 'c', memory: 'm', traffic: 't', name: 'n' } as const;
type Sort = keyof typeof SORTS;
const isSort = (word: string): word is Sort => word in SORTS;
const USUAL_SORT = 'traffic';
/** With fewer columns the status is left out, and both directions are added up. */
const WIDE = 64;

/** All that is shown; `--json` shows it as it is. */
export interface Picture {
  lab: ProjectObject;
  computes: { compute_id: string; name: string; cpu_usage_percent: number; memory_usage_percent: number }[];
  nodes: (Pick<NodeObject, 'node_id' | 'name' | 'node_type' | 'status'> &
    LoadFigures & { sent: Rate; received: Rate })[];
  links: (LinkFlows & { nodes: LinkObject['nodes']; ends: string[] })[];
}

/** Requested from the server; counters come as events. */
interface Facts {
  lab: ProjectObject;
  nodes: NodeObject[];
  links: LinkObject[];
  hosts: HostLoad[];
}

async function ask(session: Session, lab: ProjectObject, { loads }: Measured): Promise<Facts> {
  const [nodes, links, hosts] = await Promise.all([
    session.nodes(lab),
    session.api.get<LinkObject[]>(`/v2/projects/${lab.project_id}/links`),
    session.api.get<HostLoad[]>(`/v2/statistics?nodes=${lab.project_id}`),
  ]);
  const told = hosts.flatMap(({ statistics }) => statistics.nodes ?? []);
  loads.take(told, performance.now());
  return { lab, nodes, links, hosts };
}

/** Computed from successive messages or answers. */
interface Measured {
  traffic: Traffic;
  loads: NodeLoads;
}

function pictureOf({ lab, nodes, links, hosts }: Facts, { traffic, loads }: Measured): Picture {
  const flows = traffic.flows(performance.now());
  const used = new Set(nodes.map(({ compute_id }) => compute_id));
  return {
    lab,
    computes: hosts
      .filter(({ compute_id }) => used.has(compute_id))
      .map(({ compute_id, compute_name: name, statistics: { cpu_usage_percent, memory_usage_percent } }) => ({
        compute_id,
        name,
        cpu_usage_percent,
        memory_usage_percent,
      })),
    nodes: nodes.map(({ node_id, name, node_type, status }) => ({
      node_id,
      name,
      node_type,
      status,
      ...loads.of(node_id),
      ...ofNode(flows, node_id),
    })),
    links: flows.flatMap((flow) => {
      const link = links.find(({ link_id }) => link_id === flow.link_id);
      return link ? [{ ...flow, nodes: link.nodes, ends: link.nodes.map((end) => endText(nodes, end)) }] : [];
    }),
  };
}

const frames = ({ frames_per_second: rate }: Rate): string => (rate === 0 ? '' : rate.toFixed(rate < 10 ? 1 : 0));
const bytes = ({ bytes_per_second: rate }: Rate): string => (rate === 0 ? '' : bytesPerSecond(rate));
const count = (number: number): string => (number === 0 ? '' : String(number));

function linkRows({ links }: Picture): string[][] {
  return links.flatMap(({ ends: [one = '', other = ''], forward, backward, nodes }) => {
    const row = (from: string, to: string, flow: Flow): string[] => [
      ...[`${from} > ${to}`, frames(flow), bytes(flow), count(flow.dropped)],
    ];
    const isForward = forward.from === nodes[0]?.node_id;
    return [row(one, other, isForward ? forward : backward), row(other, one, isForward ? backward : forward)];
  });
}

type NodePicture = Picture['nodes'][number];

const traffic = ({ sent, received }: NodePicture): number => sent.bytes_per_second + received.bytes_per_second;

/** The default order of each key; nodes without figures come last. */
const ORDERS: Readonly<Record<Sort, (one: NodePicture, other: NodePicture) => number>> = {
  cpu: (one, other) => (other.cpu_usage_percent ?? -1) - (one.cpu_usage_percent ?? -1),
  memory: (one, other) => (other.memory_bytes ?? -1) - (one.memory_bytes ?? -1),
  traffic: (one, other) => traffic(other) - traffic(one),
  name: (one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }),
};

function nodeTable({ nodes }: Picture, sort: Sort, width = Number.POSITIVE_INFINITY): string[] {
  const cells = (node: NodePicture): string[] => {
    const { name, status, cpu_usage_percent: cpu, memory_bytes: memory, sent, received } = node;
    const load = [cpu === null ? '' : `${cpu.toFixed(cpu < 10 ? 1 : 0)} %`, memory === null ? '' : inBytes(memory)];
    if (width >= WIDE) return [name, status, ...load, bytes(sent), bytes(received)];
    return [name, ...load, bytes({ ...sent, bytes_per_second: traffic(node) })];
  };
  const headings =
    width >= WIDE ? ['NODE', 'STATUS', 'CPU', 'MEMORY', 'SENT', 'RECEIVED'] : ['NODE', 'CPU', 'MEMORY', 'TRAFFIC'];
  return tableLines(headings, nodes.toSorted(ORDERS[sort]).map(cells), width);
}

interface Shown {
  sort: Sort;
  /** Of the terminal; undefined without one. */
  width: number | undefined;
  /** Of the terminal; undefined for all. */
  rows?: number;
}

function pictureLines(picture: Picture, { sort, width, rows }: Shown): string[] {
  const { lab, nodes, computes } = picture;
  const running = nodes.filter(({ status }) => status === 'started').length;
  const hosts = computes.map(
    (one) => `${one.name}: CPU ${one.cpu_usage_percent} %, memory ${one.memory_usage_percent} %`,
  );
  const keys = rows === undefined ? [] : [`By ${sort}; ${Object.values(SORTS).join(' ')} sort, q leaves`];
  const head = [`${lab.name}: ${running} of ${nodes.length} nodes run`, ...hosts, ...keys].map(harmless);
  const tables = [
    nodeTable(picture, sort, width),
    tableLines(['LINK', 'FRAMES/S', 'RATE', 'DROPPED'], linkRows(picture), width),
  ] as const;
  if (rows === undefined) return [...head, ...tables.flatMap((lines) => ['', ...lines])];
  const room = Math.max(0, rows - head.length - tables.length);
  const least = Math.floor(room / 2);
  const [first, second] = tables.map(({ length }) => length) as [number, number];
  const ofNodes = Math.min(first, Math.max(least, room - second));
  return [...head, '', ...cut(tables[0], ofNodes), '', ...cut(tables[1], room - ofNodes)];
}

/** So many lines; the last one says how many are missing. */
function cut(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  return most < 1 ? [] : [...lines.slice(0, most - 1), `and ${lines.length - most + 1} more`];
}

async function run(
  session: Session,
  wanted: string | undefined,
  flags: { once?: true; interval?: string; sort?: string },
): Promise<void> {
  const seconds = secondsOf('--interval', flags.interval, USUAL_SECONDS);
  if (seconds < SECONDS.least || seconds > SECONDS.most) {
    throw new WrongUsage(`--interval "${flags.interval}": write seconds, from ${SECONDS.least} to ${SECONDS.most}.`);
  }
  const { sort = USUAL_SORT } = flags;
  if (!isSort(sort)) throw new WrongUsage(`--sort "${sort}": choose ${Object.keys(SORTS).join(', ')}.`);
  if (session.quiet) throw new WrongUsage('--quiet: these figures have no identifiers; leave it out.');
  const lab = wanted === undefined ? await session.lab() : await session.labNamed(wanted);
  const milliseconds = Math.round(seconds * 1000);
  const measured = { traffic: new Traffic(milliseconds), loads: new NodeLoads() };
  const socket = await session.api.socket(
    `/v2/projects/${lab.project_id}/links/statistics/ws?interval=${milliseconds}`,
  );
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  socket.on('message', (data: Buffer) => {
    const { links } = JSON.parse(String(data)) as { links: LinkCounters[] };
    measured.traffic.take(links, performance.now());
    begin();
  });
  socket.on('close', (_code, why) => end(why.toString() || 'The server has closed the connection.'));
  socket.resume();
  try {
    const isSnapshot = flags.once || session.json || !process.stdout.isTTY || !process.stdin.isTTY;
    const reason = await (isSnapshot
      ? snapshot(session, lab, measured, { begun, ended, milliseconds, sort })
      : live(session, lab, measured, { ended, milliseconds, sort }));
    if (reason !== undefined) throw unavailable(reason);
  } finally {
    socket.terminate();
  }
}

interface Course {
  ended: Promise<string>;
  milliseconds: number;
  sort: Sort;
}

/** Prints one picture after one interval. Returns why that is impossible. */
async function snapshot(
  session: Session,
  lab: ProjectObject,
  measured: Measured,
  { begun, ended, milliseconds, sort }: Course & { begun: Promise<void> },
): Promise<string | undefined> {
  await ask(session, lab, measured);
  const interval = begun.then(() => sleep(milliseconds * SLACK));
  const reason = await Promise.race([interval.then(() => undefined), ended]);
  if (reason !== undefined) return reason;
  const picture = pictureOf(await ask(session, lab, measured), measured);
  if (session.json) session.printJson(picture);
  else for (const line of pictureLines(picture, { sort, width: session.width })) session.print(line);
  return undefined;
}

/** Pictures until a person leaves. Answers why there are no more. */
async function live(
  session: Session,
  lab: ProjectObject,
  measured: Measured,
  { ended, milliseconds, ...course }: Course,
): Promise<string | undefined> {
  session.ending.isUsual = true;
  let { sort } = course;
  let facts: Facts | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  const draw = (): void => {
    if (!facts) return;
    const { columns: width, rows } = windowSize(process.stdout);
    screen.draw(pictureLines(pictureOf(facts, measured), { sort, width, rows }));
  };
  const pressed = (key: string): void => {
    sort = (Object.keys(SORTS) as Sort[]).find((one) => SORTS[one] === key) ?? sort;
    draw();
  };
  await using screen = fullScreen(session, draw, pressed);
  const over = Promise.race([ended, screen.left.then(() => '')]);
  for (;;) {
    if (performance.now() - askedAt >= LEAST_ASKING_MS) {
      askedAt = performance.now();
      const asked = ask(session, lab, measured);
      asked.catch(() => {}); // it may fail after a person has left
      const next = await Promise.race([asked, over]);
      if (typeof next === 'string') return next || undefined;
      facts = next;
    }
    draw();
    const reason = await Promise.race([sleep(milliseconds).then(() => undefined), over]);
    if (reason !== undefined) return reason || undefined;
  }
}

export const top: Noun = {
  name: 'top',
  summary: 'live figures of a lab',
  verbs: [
    verb({
      name: '',
      words: ['[LAB]'],
      summary: 'shows nodes, traffic and drops until q; without a terminal: once',
      flags: {
        interval: { value: 'SECONDS', summary: `seconds between readings (${USUAL_SECONDS})` },
        sort: { value: 'KEY', summary: `the order of nodes: ${Object.keys(SORTS).join(', ')} (${USUAL_SORT})` },
        once: { summary: 'one reading, over one interval' },
      },
      inLab: true,
      run: (session, [wanted], flags) => run(session, wanted, flags),
    }),
  ],
};
