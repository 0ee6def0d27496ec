// Applies a link's impairments and their schedule on a compute, and reads the counters. One end handles both
// directions, so that no frame is impaired or counted twice.
import type { LinkSchedule } from '../../api/routes/links.ts';
import { conflict } from '../../failures.ts';
import { ComputeRefusal, lacksRoute, mustBeObject } from '../computes/answers.ts';
import type { CallOptions } from '../computes/compute.ts';
import { changesOf, impairs, type LinkImpairments } from './impairments.ts';
import type { Link, LinkEnd } from './link.ts';
import { portPath } from './wiring.ts';

type Method = 'get' | 'post' | 'put' | 'delete';
type Directions<Value> = { forward: Value; backward: Value };
type Sides<Value> = { outgoing: Value; incoming: Value };

/** An end's outgoing direction is forward if it is the link's first end. */
function sidesOf<Value>({ ends }: Link, end: LinkEnd, { forward, backward }: Directions<Value>): Sides<Value> {
  return ends[0] === end ? { outgoing: forward, incoming: backward } : { outgoing: backward, incoming: forward };
}

function directionsOf<Value>({ ends }: Link, end: LinkEnd, { outgoing, incoming }: Sides<Value>): Directions<Value> {
  return ends[0] === end ? { forward: outgoing, backward: incoming } : { forward: incoming, backward: outgoing };
}

async function ask(end: LinkEnd, method: Method, path: string, options?: CallOptions): Promise<unknown> {
  return end.node.compute[method](portPath(end, path), options);
}

/** The possible ends, best first: the present one, the one on this host, the filtering end. */
function candidates(link: Link): LinkEnd[] {
  const rank = (end: LinkEnd): number =>
    Number(end === link.lineEnd) * 4 + Number(end.node.compute.id === 'local') * 2 + Number(end === link.filteringEnd);
  return link.ends.slice(0, 2).sort((one, other) => rank(other) - rank(one));
}

/** Runs the task at the first end whose compute supports it, and uses that end from then on. */
async function atLineEnd<Answer>(link: Link, task: (end: LinkEnd) => Promise<Answer>): Promise<Answer> {
  if (!link.wired) throw conflict('The link is not wired: it has not two ends, or a compute of them is away.');
  for (const end of candidates(link)) {
    try {
      const answer = await task(end);
      link.lineEnd = end;
      return answer;
    } catch (error) {
      // Unless the compute rejected it, it may have been done.
      if (!(error instanceof ComputeRefusal)) link.lineEnd = end;
      if (!lacksRoute(error)) throw error;
    }
  }
  const names = [...new Set(link.ends.map(({ node }) => node.compute.name))].join(' and ');
  throw conflict(
    `impairments: neither end of the link can do this (compute ${names}); it takes a node of this server, or of another Labwire, at one end. Filters work without.`,
  );
}

/** Applies impairments on the computes; makes no call as long as there never were any. */
export async function impairLine(link: Link, impairments: LinkImpairments): Promise<void> {
  if (link.lineEnd === undefined && !impairs(impairments)) return;
  if (link.ends.length < 2) return;
  await atLineEnd(link, (end) => ask(end, 'put', 'impairments', { body: sidesOf(link, end, impairments) }));
}

type Seen = Sides<object> & { capture?: object | null };

const seen = async (end: LinkEnd): Promise<Seen> =>
  mustBeObject(await ask(end, 'get', 'statistics'), 'GET statistics') as unknown as Seen;

function seenAtLineEnd(link: Link): Promise<{ end: LinkEnd; sides: Seen }> {
  return atLineEnd(link, async (at) => ({ end: at, sides: await seen(at) }));
}

/** The counters of each direction at the impairing end, and of the capture if there is one. */
export async function lineCounters(link: Link): Promise<{ forward: object; backward: object; capture: object | null }> {
  const { end, sides } = await seenAtLineEnd(link);
  const capturing = link.capture?.end;
  const at = capturing === undefined || capturing === end ? sides : await seen(capturing).catch(() => undefined);
  return { ...directionsOf(link, end, sides), capture: at?.capture ?? null };
}

/** The counters of each direction at the impairing end, and those of both ends where their computes have them. */
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

/** Resets the counters at both ends. */
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

/** An end's schedule in terms of the link's directions. */
function scheduleOf(link: Link, end: LinkEnd, told: unknown): object {
  const { steps, outgoing, incoming, ...rest } = mustBeObject(told, 'the call for a schedule') as unknown as Told;
  if (steps === undefined || outgoing === undefined || incoming === undefined) return rest;
  const renamed = steps.map(({ outgoing: out, incoming: back, ...times }) => ({
    ...times,
    ...directionsOf(link, end, { outgoing: out, incoming: back }),
  }));
  return { ...rest, steps: renamed, ...directionsOf(link, end, { outgoing, incoming }) };
}
