// The line of a link, as its computes make it: impairments by direction, their schedule, and what was seen. One end does it all, for
// both directions, so that no frame is impaired or counted twice.
import { Failure } from '../../failures.ts';
import { ComputeRefusal, lacksRoute } from '../computes/answers.ts';
import type { CallOptions } from '../computes/compute.ts';
import { changesOf, impairs, type LinkImpairments, type LinkSchedule } from './impairments.ts';
import type { Link, LinkEnd } from './link.ts';

type Method = 'get' | 'post' | 'put' | 'delete';
type Directions<Value> = { forward: Value; backward: Value };
type Sides<Value> = { outgoing: Value; incoming: Value };

/** What an end calls outgoing is forward if it is the first one. */
function sidesOf<Value>({ ends }: Link, end: LinkEnd, { forward, backward }: Directions<Value>): Sides<Value> {
  return ends[0] === end ? { outgoing: forward, incoming: backward } : { outgoing: backward, incoming: forward };
}

function directionsOf<Value>({ ends }: Link, end: LinkEnd, { outgoing, incoming }: Sides<Value>): Directions<Value> {
  return ends[0] === end ? { forward: outgoing, backward: incoming } : { forward: incoming, backward: outgoing };
}

async function ask(end: LinkEnd, method: Method, path: string, options?: CallOptions): Promise<unknown> {
  const { adapter_number: adapter, port_number: port } = end.port;
  return end.node.compute[method](`${end.node.path}/adapters/${adapter}/ports/${port}/${path}`, options);
}

/** The ends that may do it, the best first: the one that does, this host's own, the one at which filters work. */
function candidates(link: Link): LinkEnd[] {
  const rank = (end: LinkEnd): number =>
    Number(end === link.lineEnd) * 4 + Number(end.node.compute.id === 'local') * 2 + Number(end === link.filteringEnd);
  return link.ends.slice(0, 2).sort((one, other) => rank(other) - rank(one));
}

/** Has the first end do it whose compute can, and keeps to that one. */
async function atLineEnd<Answer>(link: Link, task: (end: LinkEnd) => Promise<Answer>): Promise<Answer> {
  if (!link.wired)
    throw new Failure('conflict', 'The link is not wired: it has not two ends, or a compute of them is away.');
  for (const end of candidates(link)) {
    try {
      const answer = await task(end);
      link.lineEnd = end;
      return answer;
    } catch (error) {
      // Unless it was refused, it may have been done.
      if (!(error instanceof ComputeRefusal)) link.lineEnd = end;
      if (!lacksRoute(error)) throw error;
    }
  }
  const names = [...new Set(link.ends.map(({ node }) => node.compute.name))].join(' and ');
  throw new Failure(
    'conflict',
    `impairments: neither end of the link can do this (compute ${names}); it takes a node of this server, or of another Labwire, at one end. Filters work without.`,
  );
}

/** Has the computes do what these impairments say; nothing is asked of them as long as there never were any. */
export async function impairLine(link: Link, impairments: LinkImpairments): Promise<void> {
  if (link.lineEnd === undefined && !impairs(impairments)) return;
  if (link.ends.length < 2) return;
  await atLineEnd(link, (end) => ask(end, 'put', 'impairments', { body: sidesOf(link, end, impairments) }));
}

type Seen = Sides<object> & { capture?: object | null };

const seen = (end: LinkEnd): Promise<unknown> => ask(end, 'get', 'statistics');

function seenAtLineEnd(link: Link): Promise<{ end: LinkEnd; sides: Seen }> {
  return atLineEnd(link, async (at) => ({ end: at, sides: (await seen(at)) as Seen }));
}

/** What was seen of each direction at the end that impairs, and of the capture, if there is one. */
export async function lineCounters(link: Link): Promise<{ forward: object; backward: object; capture: object | null }> {
  const { end, sides } = await seenAtLineEnd(link);
  const capturing = link.capture?.end;
  const { capture } =
    capturing === undefined || capturing === end ? sides : ((await seen(capturing).catch(() => ({}))) as Seen);
  return { ...directionsOf(link, end, sides), capture: capture ?? null };
}

/** What was seen of each direction at the end that impairs, and of both ends by themselves, where their computes tell. */
export async function lineStatistics(link: Link): Promise<object> {
  const { end, sides } = await seenAtLineEnd(link);
  const [from, to] = link.ends.map(({ node }) => node.id);
  const { forward, backward } = directionsOf(link, end, sides);
  const ends = link.ends.slice(0, 2).map(async (each) => ({
    node_id: each.node.id,
    adapter_number: each.port.adapter_number,
    port_number: each.port.port_number,
    compute_id: each.node.compute.id,
    statistics: each === end ? sides : await seen(each).catch(() => null),
  }));
  return {
    link_id: link.id,
    measured_at: end.node.id,
    forward: { from, to, ...forward },
    backward: { from: to, to: from, ...backward },
    ends: await Promise.all(ends),
  };
}

/** Counts what passes anew, at both ends. */
export async function resetLineStatistics(link: Link): Promise<void> {
  const reset = (end: LinkEnd): Promise<unknown> => ask(end, 'post', 'statistics/reset');
  await atLineEnd(link, reset);
  for (const end of link.ends.slice(0, 2)) if (end !== link.lineEnd) await reset(end).catch(() => {});
}

export async function startLineSchedule(link: Link, { steps, ...rounds }: LinkSchedule): Promise<object> {
  return atLineEnd(link, async (end) => {
    const sides = steps.map((step) => ({
      at: step.at,
      ...(step.for !== undefined && { for: step.for }),
      ...sidesOf(link, end, changesOf(step)),
    }));
    return scheduleOf(link, end, await ask(end, 'post', 'schedule', { body: { steps: sides, ...rounds } }));
  });
}

export async function lineSchedule(link: Link): Promise<object> {
  return atLineEnd(link, async (end) => scheduleOf(link, end, await ask(end, 'get', 'schedule')));
}

export async function cancelLineSchedule(link: Link): Promise<void> {
  await atLineEnd(link, (end) => ask(end, 'delete', 'schedule'));
}

type Told = { state: string; steps?: Sides<object>[] } & Partial<Sides<object>>;

/** What an end tells of its schedule, in the words of the link. */
function scheduleOf(link: Link, end: LinkEnd, told: unknown): object {
  const { steps, outgoing, incoming, ...rest } = told as Told;
  if (steps === undefined || outgoing === undefined || incoming === undefined) return rest;
  const renamed = steps.map(({ outgoing: out, incoming: back, ...times }) => ({
    ...times,
    ...directionsOf(link, end, { outgoing: out, incoming: back }),
  }));
  return { ...rest, steps: renamed, ...directionsOf(link, end, { outgoing, incoming }) };
}
