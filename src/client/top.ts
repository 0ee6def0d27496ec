// `labwired top`: what a lab does at the moment: its nodes, what passes its links, and how busy the hosts are.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../failures.ts';
import { type Noun, verb } from './command.ts';
import { bytesPerSecond } from './figures.ts';
import { fullScreen } from './full-screen.ts';
import { endText } from './link-ends.ts';
import type { LabObject, LinkObject, NodeObject } from './objects.ts';
import { secondsOf } from './seconds.ts';
import type { Session } from './session.ts';
import { tableLines } from './table.ts';
import { harmless } from './text-width.ts';
import { type Flow, type LinkCounters, type LinkFlows, ofNode, type Rate, Traffic } from './traffic.ts';
import { WrongUsage } from './wrong-usage.ts';

const USUAL_SECONDS = 1;
/** The server sends counters within these limits. */
const SECONDS = { least: 0.2, most: 60 };
/** A message that is under way at the end of the interval is waited for. */
const SLACK = 1.3;

/** Nodes and hosts change less often than counters. */
const LEAST_ASKING_MS = 2_000;

interface HostLoad {
  compute_id: string;
  compute_name: string;
  statistics: { cpu_usage_percent: number; memory_usage_percent: number };
}

/** All that is shown; `--json` shows it as it is. */
export interface Picture {
  lab: LabObject;
  computes: { compute_id: string; name: string; cpu_usage_percent: number; memory_usage_percent: number }[];
  nodes: (Pick<NodeObject, 'node_id' | 'name' | 'node_type' | 'status'> & { sent: Rate; received: Rate })[];
  links: (LinkFlows & { nodes: LinkObject['nodes']; ends: string[] })[];
}

/** What the server has to be asked for; the counters come by themselves. */
interface Facts {
  lab: LabObject;
  nodes: NodeObject[];
  links: LinkObject[];
  hosts: HostLoad[];
}

async function ask(session: Session, lab: LabObject): Promise<Facts> {
  const [nodes, links, hosts] = await Promise.all([
    session.nodes(lab),
    session.api.get<LinkObject[]>(`/v2/projects/${lab.project_id}/links`),
    session.api.get<HostLoad[]>('/v2/statistics'),
  ]);
  return { lab, nodes, links, hosts };
}

function pictureOf({ lab, nodes, links, hosts }: Facts, traffic: Traffic): Picture {
  const flows = traffic.flows(performance.now());
  const used = new Set(nodes.map(({ compute_id }) => compute_id));
  return {
    lab,
    computes: hosts
      .filter(({ compute_id }) => used.has(compute_id))
      .map(({ compute_id, compute_name: name, statistics: { cpu_usage_percent, memory_usage_percent } }) => ({
        ...{ compute_id, name, cpu_usage_percent, memory_usage_percent },
      })),
    nodes: nodes.map(({ node_id, name, node_type, status }) => ({
      ...{ node_id, name, node_type, status },
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

function nodeRows({ nodes }: Picture): string[][] {
  const busy = ({ sent, received }: Picture['nodes'][number]): number =>
    sent.bytes_per_second + received.bytes_per_second;
  return nodes
    .toSorted((one, other) => busy(other) - busy(one))
    .map(({ name, status, sent, received }) => [name, status, bytes(sent), bytes(received)]);
}

/** The lines of a picture. @param rows of the terminal, undefined for all */
export function pictureLines(picture: Picture, width: number | undefined, rows?: number): string[] {
  const { lab, nodes, computes } = picture;
  const running = nodes.filter(({ status }) => status === 'started').length;
  const hosts = computes.map(
    (one) => `${one.name}: CPU ${one.cpu_usage_percent} %, memory ${one.memory_usage_percent} %`,
  );
  const head = [`${lab.name}: ${running} of ${nodes.length} nodes run`, ...hosts].map(harmless);
  const tables = [
    tableLines(['NODE', 'STATUS', 'SENT', 'RECEIVED'], nodeRows(picture), width),
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
  flags: { once?: true; interval?: string },
): Promise<void> {
  const seconds = secondsOf('--interval', flags.interval, USUAL_SECONDS);
  if (seconds < SECONDS.least || seconds > SECONDS.most) {
    throw new WrongUsage(`--interval "${flags.interval}": write seconds, from ${SECONDS.least} to ${SECONDS.most}.`);
  }
  if (session.quiet) throw new WrongUsage('--quiet: these figures have no identifiers; leave it out.');
  const lab = wanted === undefined ? await session.lab() : await session.labNamed(wanted);
  const milliseconds = Math.round(seconds * 1000);
  const traffic = new Traffic(milliseconds);
  const socket = await session.api.socket(
    `/v2/projects/${lab.project_id}/links/statistics/ws?interval=${milliseconds}`,
  );
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  socket.on('message', (data: Buffer) => {
    const { links } = JSON.parse(String(data)) as { links: LinkCounters[] };
    traffic.take(links, performance.now());
    begin();
  });
  socket.on('close', (_code, why) => end(why.toString() || 'The server has closed the connection.'));
  socket.resume();
  try {
    const isSnapshot = flags.once || session.json || !process.stdout.isTTY || !process.stdin.isTTY;
    const reason = await (isSnapshot
      ? snapshot(session, lab, traffic, { begun, ended, milliseconds })
      : live(session, lab, traffic, { ended, milliseconds }));
    if (reason !== undefined) throw new Failure('unavailable', reason);
  } finally {
    socket.terminate();
  }
}

interface Course {
  ended: Promise<string>;
  milliseconds: number;
}

/** One picture, after one interval. Answers why there is none. */
async function snapshot(
  session: Session,
  lab: LabObject,
  traffic: Traffic,
  { begun, ended, milliseconds }: Course & { begun: Promise<void> },
): Promise<string | undefined> {
  const measured = begun.then(() => sleep(milliseconds * SLACK));
  const reason = await Promise.race([measured.then(() => undefined), ended]);
  if (reason !== undefined) return reason;
  const picture = pictureOf(await ask(session, lab), traffic);
  if (session.json) session.print(JSON.stringify(picture, null, 2));
  else for (const line of pictureLines(picture, session.width)) session.print(line);
  return undefined;
}

/** Pictures until a person leaves. Answers why there are no more. */
async function live(
  session: Session,
  lab: LabObject,
  traffic: Traffic,
  { ended, milliseconds }: Course,
): Promise<string | undefined> {
  session.ending.isUsual = true;
  let facts: Facts | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  const draw = (): void => {
    if (!facts) return;
    screen.draw(pictureLines(pictureOf(facts, traffic), process.stdout.columns, process.stdout.rows));
  };
  await using screen = fullScreen(session, draw);
  const over = Promise.race([ended, screen.left.then(() => '')]);
  for (;;) {
    if (performance.now() - askedAt >= LEAST_ASKING_MS) {
      askedAt = performance.now();
      const asked = ask(session, lab);
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
  summary: 'what a lab does at the moment',
  verbs: [
    verb({
      name: '',
      words: ['[LAB]'],
      summary: 'nodes, traffic of links and drops, again and again; q leaves it. Without a terminal: once',
      flags: {
        interval: { value: 'SECONDS', summary: `how often (${USUAL_SECONDS})` },
        once: { summary: 'one picture, measured over one interval' },
      },
      inLab: true,
      run: (session, [wanted], flags) => run(session, wanted, flags),
    }),
  ],
};
