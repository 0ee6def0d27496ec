// Decides which node goes to which host: the whole lab on one host if it fits, otherwise cut where few links cross.
// Pure: the same problem always has the same solution.
import { eligibility } from './eligibility.ts';
import { greatest, partition } from './partition.ts';
import type { Choice, Host, PlacedNode, Problem, Solution, Unplaceable } from './problem.ts';

/** A lab that no single host can take is divided among at least as many hosts, if there are. */
const FEWEST_PARTS = 4;
/** How much of the capacity of several hosts a divided lab fills. */
const FILLED = 0.75;
/** Other hosts that a reason names. */
const MOST_NAMED = 3;

export function place({ hosts, nodes, links, sendable }: Problem): Solution {
  const missing = eligibility(sendable);
  const canRun = (host: Host, node: PlacedNode): boolean => missing(host, node) === undefined;
  const nameOf = (id: string): string => hosts.find((host) => host.id === id)?.name ?? id;
  const pinned = new Map(nodes.flatMap(({ id, pinned: host }) => (host === undefined ? [] : [[id, host] as const])));
  const choices = new Map<string, Choice>();
  const unplaceable: Unplaceable[] = [];
  const fail = (node: PlacedNode, reason: (host: Host) => string): void => {
    const all = hosts.map((host) => ({ host: host.id, name: host.name, reason: reason(host) }));
    unplaceable.push({ node: node.id, name: node.name, missing: all });
  };
  /** `usual` is the reason unless no other host can run the node. */
  const choose = (node: PlacedNode, host: Host, usual: string): void => {
    const others = hosts.filter((one) => !canRun(one, node));
    const isOnly = hosts.length > 1 && others.length === hosts.length - 1;
    const named = others.slice(0, MOST_NAMED).map((one) => `${one.name}: ${missing(one, node)}`);
    const more = others.length > MOST_NAMED ? `; and ${others.length - MOST_NAMED} more` : '';
    const only = `only ${host.name} can run it (${named.join('; ')}${more})`;
    choices.set(node.id, { host: host.id, reason: isOnly ? only : usual });
  };
  const left = hosts.map((host) => ({ ...host }));
  for (const node of nodes) {
    if (node.pinned === undefined || node.settled) continue;
    const host = left.find(({ id }) => id === node.pinned);
    if (host) [host.memory, host.load] = [host.memory - node.memory, host.load - node.load];
    choices.set(node.id, { host: node.pinned, reason: `the host ${nameOf(node.pinned)} is named for this node` });
  }

  const free: PlacedNode[] = [];
  for (const node of nodes) {
    if (node.pinned !== undefined) continue;
    if (left.some((host) => canRun(host, node))) free.push(node);
    else fail(node, (host) => missing(host, node) ?? '');
  }
  const { settledOn, preferred } = ranked(left, free, nodes);
  const neighbours = neighboursOf(nodes, links);
  const whole = preferred.find(
    (host) =>
      free.every((node) => canRun(host, node)) &&
      total(free, 'memory') <= host.memory &&
      // The load is no reason to divide a single node from its lab's host.
      (total(free, 'load') <= host.load || free.length === 1),
  );
  if (whole) {
    const together = settledOn(whole) > 0;
    const reason = together
      ? `other nodes of the lab are on ${whole.name}, and it has room`
      : `all of it fits on ${whole.name}: ${Math.ceil(total(free, 'memory'))} MiB of memory needed, ${Math.floor(whole.memory)} MiB free`;
    for (const node of free) choose(node, whole, reason);
  } else {
    const usable = preferred.filter((host) => free.some((node) => canRun(host, node)));
    let among = subset(usable, free, canRun);
    const isTooSmall = (some: readonly Host[]): boolean =>
      some.length < usable.length && total(some, 'memory') < total(free, 'memory');
    let at = new Map<string, string>();
    // Large nodes may not fit side by side on the fewest hosts.
    for (;;) {
      for (const largeFirst of [false, true]) {
        if (at.size === free.length || isTooSmall(among)) break;
        const found = partition({ hosts: among, free, pinned, neighbours, canRun, largeFirst });
        if (found.size > at.size) at = found;
      }
      if (at.size === free.length || among.length >= usable.length) break;
      const more = usable.filter((host) => !among.includes(host)).slice(0, Math.ceil(among.length / 2));
      among = [...among, ...more];
    }
    const hostOf = new Map([...pinned, ...at]);
    for (const node of free) {
      const host = left.find(({ id }) => id === at.get(node.id));
      if (!host) {
        fail(node, (one) => missing(one, node) ?? 'other nodes of the lab need the memory that is free there');
        continue;
      }
      const near = neighbours.get(node.id) ?? [];
      const here = near.filter((id) => hostOf.get(id) === host.id).length;
      const parts = `no host has room for the whole lab; ${here} of its ${near.length} links stay on ${host.name}`;
      choose(node, host, parts);
    }
  }
  const hostOf = (id: string): string | undefined => choices.get(id)?.host ?? pinned.get(id);
  const crossing = links.filter(([one, other]) => {
    const [a, b] = [hostOf(one), hostOf(other)];
    return a !== undefined && b !== undefined && a !== b;
  }).length;
  return { choices, unplaceable, crossing };
}

/** Hosts with nodes of the lab first, then those with its images, then those with most memory. */
function ranked(hosts: readonly Host[], free: readonly PlacedNode[], nodes: readonly PlacedNode[]) {
  const settled = new Map<string, number>();
  for (const { pinned } of nodes) if (pinned !== undefined) settled.set(pinned, (settled.get(pinned) ?? 0) + 1);
  const settledOn = ({ id }: Host): number => settled.get(id) ?? 0;
  const images = new Set(free.flatMap((node) => node.images));
  const imagesOn = (host: Host): number => [...images].filter((image) => host.images.has(image)).length;
  const rank = new Map(hosts.map((host) => [host, imagesOn(host)]));
  const preferred = [...hosts].sort(
    (a, b) => settledOn(b) - settledOn(a) || rank.get(b)! - rank.get(a)! || b.memory - a.memory,
  );
  return { settledOn, preferred };
}

/** The fewest hosts, best first, with room for the nodes; each node can run on one of them. */
function subset(
  usable: readonly Host[],
  free: readonly PlacedNode[],
  canRun: (host: Host, node: PlacedNode) => boolean,
): Host[] {
  const used: Host[] = [];
  const [memory, load] = [total(free, 'memory'), total(free, 'load')];
  for (const host of usable) {
    const enough = total(used, 'memory') * FILLED >= memory && total(used, 'load') * FILLED >= load;
    if (used.length >= FEWEST_PARTS && enough) break;
    used.push(host);
  }
  for (const node of free) {
    if (used.some((host) => canRun(host, node))) continue;
    const host = greatest(
      usable.filter((one) => canRun(one, node)),
      (one) => one.memory,
    );
    if (host) used.push(host);
  }
  return used;
}

function total<K extends string>(all: readonly Record<K, number>[], member: K): number {
  return all.reduce((sum, one) => sum + Math.max(one[member], 0), 0);
}

function neighboursOf(nodes: readonly PlacedNode[], links: Problem['links']): Map<string, string[]> {
  const neighbours = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const [one, other] of links) {
    if (one === other) continue;
    neighbours.get(one)?.push(other);
    neighbours.get(other)?.push(one);
  }
  return neighbours;
}
