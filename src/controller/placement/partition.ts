// Divides a lab among several hosts so that few links cross: each host's part grows along the links (greedy), then single
// nodes move while that saves links (Fiduccia-Mattheyses).
import type { Host, PlacedNode } from './problem.ts';

export interface PartitionOptions {
  /** The hosts to use. */
  hosts: readonly Host[];
  /** The nodes to place. */
  free: readonly PlacedNode[];
  /** The hosts of pinned nodes, by node id. */
  pinned: ReadonlyMap<string, string>;
  neighbours: ReadonlyMap<string, readonly string[]>;
  canRun(host: Host, node: PlacedNode): boolean;
  /** Spreads large nodes first, and lets the parts grow around them: more links cross, but more fits. */
  largeFirst: boolean;
}

/** A node is large if it needs more than this part of the memory of an average host. */
const LARGE_PART = 1 / 8;

/** With four hosts or more, no host gets a greater part of the nodes. */
const GREATEST_PART = 0.45;
/** How far a host's part may exceed its share of the capacity. */
const TOLERANCE = 1.3;
const PASSES = 8;
/** Moves in a row that save no link before a pass ends. */
const FRUITLESS_MOVES = 60;

/** What a host can still take. */
interface Budget {
  host: Host;
  memory: number;
  load: number;
  nodes: number;
  /** How many nodes its part should have. */
  target: number;
}

/** What a part may exceed if the lab fits in no other way; memory is never exceeded. */
type Strictness = 'all' | 'load' | 'memory';

/** The host of each free node; a node that fits nowhere is left out. */
export function partition({
  hosts,
  free,
  pinned,
  neighbours,
  canRun,
  largeFirst,
}: PartitionOptions): Map<string, string> {
  const nodes = new Map(free.map((node) => [node.id, node]));
  const budgets = budgetsOf(hosts, free, pinned);
  const at = new Map(pinned);
  const fits = (budget: Budget, node: PlacedNode, strictness: Strictness): boolean =>
    canRun(budget.host, node) &&
    node.memory <= budget.memory &&
    (strictness === 'memory' || node.load <= budget.load) &&
    (strictness !== 'all' || budget.nodes >= 1);
  const put = (node: PlacedNode, budget: Budget, sign = 1): void => {
    budget.memory -= sign * node.memory;
    budget.load -= sign * node.load;
    budget.nodes -= sign;
    if (sign > 0) at.set(node.id, budget.host.id);
  };
  const linksTo = (id: string, host: string): number =>
    (neighbours.get(id) ?? []).filter((other) => at.get(other) === host).length;

  const grow = (budget: Budget): void => {
    for (let left = budget.target; left > 0; left -= 1) {
      let best: PlacedNode | undefined;
      let most = Number.NEGATIVE_INFINITY;
      for (const node of free) {
        if (at.has(node.id) || !fits(budget, node, 'all')) continue;
        const all = neighbours.get(node.id) ?? [];
        const inside = linksTo(node.id, budget.host.id);
        if (inside === 0) continue;
        const score = 2 * inside - all.filter((other) => !at.has(other)).length;
        if (score > most) [best, most] = [node, score];
      }
      best ??= seed(
        free.filter((node) => !at.has(node.id) && fits(budget, node, 'all')),
        neighbours,
        at,
      );
      if (!best) return;
      put(best, budget);
    }
  };
  const bySize = free.toSorted((one, other) => other.memory - one.memory);
  if (largeFirst) {
    const large = (LARGE_PART * hosts.reduce((sum, host) => sum + host.memory, 0)) / hosts.length;
    for (const node of bySize.filter(({ memory }) => memory > large)) {
      const open = budgets.filter((budget) => fits(budget, node, 'all'));
      const roomiest = greatest(open, (budget) => budget.memory);
      if (!roomiest) continue;
      put(node, roomiest);
      roomiest.target -= 1;
    }
  }
  for (const budget of budgets) grow(budget);

  for (const node of bySize.filter(({ id }) => !at.has(id))) {
    for (const strictness of ['all', 'load', 'memory'] as const) {
      const open = budgets.filter((budget) => fits(budget, node, strictness));
      const best = greatest(open, (budget) => linksTo(node.id, budget.host.id) * 1e6 + budget.nodes);
      if (!best) continue;
      put(node, best);
      break;
    }
  }

  const byHost = new Map(budgets.map((budget) => [budget.host.id, budget]));
  const move = (node: PlacedNode, to: Budget): void => {
    put(node, byHost.get(at.get(node.id)!)!, -1);
    put(node, to);
  };
  /** The move that saves most links; a negative gain adds links. */
  const bestMove = (locked: ReadonlySet<string>): { node: PlacedNode; to: Budget; gain: number } | undefined => {
    let best: { node: PlacedNode; to: Budget; gain: number } | undefined;
    for (const [id, node] of nodes) {
      const here = at.get(id);
      if (here === undefined || locked.has(id)) continue;
      const there = new Map<string, number>();
      for (const other of neighbours.get(id) ?? []) {
        const host = at.get(other);
        if (host !== undefined) there.set(host, (there.get(host) ?? 0) + 1);
      }
      for (const [host, links] of there) {
        const gain = links - (there.get(here) ?? 0);
        const to = byHost.get(host);
        if (host === here || !to || (best && gain <= best.gain) || !fits(to, node, 'all')) continue;
        best = { node, to, gain };
      }
    }
    return best;
  };
  for (let pass = 0; pass < PASSES; pass += 1) {
    const locked = new Set<string>();
    const undo: { node: PlacedNode; from: Budget }[] = [];
    let [sum, best, kept] = [0, 0, 0];
    for (let fruitless = 0; fruitless < FRUITLESS_MOVES; fruitless += 1) {
      const next = bestMove(locked);
      if (!next) break;
      undo.push({ node: next.node, from: byHost.get(at.get(next.node.id)!)! });
      move(next.node, next.to);
      locked.add(next.node.id);
      sum += next.gain;
      if (sum > best) [best, kept, fruitless] = [sum, undo.length, 0];
    }
    for (const { node, from } of undo.slice(kept).reverse()) move(node, from);
    if (best === 0) break;
  }
  return new Map([...at].filter(([id]) => nodes.has(id)));
}

function budgetsOf(hosts: readonly Host[], free: readonly PlacedNode[], pinned: ReadonlyMap<string, string>): Budget[] {
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + Math.max(one, 0), 0);
  const memory = sum(hosts.map((host) => host.memory)) || 1;
  const load = sum(hosts.map((host) => host.load)) || 1;
  const capacities = hosts.map((host) => Math.min(Math.max(host.memory, 0) / memory, Math.max(host.load, 0) / load));
  const capacity = sum(capacities);
  const ids = new Set(hosts.map(({ id }) => id));
  const there = [...pinned.values()].filter((id) => ids.has(id));
  const all = free.length + there.length;
  const needed = sum(free.map((node) => node.load));
  const heaviest = Math.max(0, ...free.map((node) => node.load));
  return hosts.map((host, index) => {
    const share = capacity > 0 ? capacities[index]! / capacity : 1 / hosts.length;
    const part = hosts.length >= 4 ? Math.min(TOLERANCE * share, GREATEST_PART) : Math.min(TOLERANCE * share, 1);
    const present = there.filter((id) => id === host.id).length;
    return {
      host,
      memory: host.memory,
      load: Math.min(host.load, TOLERANCE * share * needed + heaviest),
      // Rounded down for four hosts and more, so that the part is not exceeded.
      nodes: Math.max((hosts.length >= 4 ? Math.floor(part * all) : Math.ceil(part * all)) || 1, 1) - present,
      target: Math.max(Math.round(share * all) - present, 0),
    };
  });
}

/** A node at the edge of what is left: the last one of a walk along the links. */
function seed(
  open: readonly PlacedNode[],
  neighbours: PartitionOptions['neighbours'],
  at: ReadonlyMap<string, string>,
): PlacedNode | undefined {
  const first = open[0];
  if (!first) return undefined;
  const known = new Map(open.map((node) => [node.id, node]));
  const seen = new Set([first.id]);
  let last = first;
  for (const id of seen) {
    last = known.get(id) ?? last;
    for (const other of neighbours.get(id) ?? []) if (!at.has(other)) seen.add(other);
  }
  return last;
}

export function greatest<T>(values: readonly T[], size: (value: T) => number): T | undefined {
  let best: T | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    const found = size(value);
    if (found > most) [best, most] = [value, found];
  }
  return best;
}
