// Divides a lab among several hosts so that few links cross: each host's part grows along the links (greedy), then single
// nodes move while that saves links (Fiduccia-Mattheyses).
import type { Host, PlacedNode } from './problem.ts';

export interface PartitionOptions {
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
export function partition(options: PartitionOptions): Map<string, string> {
  const parts = new Parts(options);
  if (options.largeFirst) parts.spreadLarge();
  parts.grow();
  parts.addRest();
  for (let pass = 0; pass < PASSES && parts.refine(); pass += 1);
  return parts.placed();
}

interface Move {
  node: PlacedNode;
  to: Budget;
  /** Links that it saves; a negative gain adds links. */
  gain: number;
}

/** The parts of a lab as they are made. */
class Parts {
  readonly #options: PartitionOptions;
  readonly #budgets: readonly Budget[];
  readonly #byHost: ReadonlyMap<string, Budget>;
  /** The hosts of placed nodes, by node id. */
  readonly #at: Map<string, string>;
  readonly #bySize: readonly PlacedNode[];

  constructor(options: PartitionOptions) {
    const { hosts, free, pinned } = options;
    this.#options = options;
    this.#budgets = budgetsOf(hosts, free, pinned);
    this.#byHost = new Map(this.#budgets.map((budget) => [budget.host.id, budget]));
    this.#at = new Map(pinned);
    this.#bySize = free.toSorted((one, other) => other.memory - one.memory);
  }

  placed(): Map<string, string> {
    const free = new Set(this.#options.free.map(({ id }) => id));
    return new Map([...this.#at].filter(([id]) => free.has(id)));
  }

  spreadLarge(): void {
    const { hosts } = this.#options;
    const large = (LARGE_PART * hosts.reduce((sum, host) => sum + host.memory, 0)) / hosts.length;
    for (const node of this.#bySize.filter(({ memory }) => memory > large)) {
      const open = this.#budgets.filter((budget) => this.#fits(budget, node, 'all'));
      const roomiest = greatest(open, (budget) => budget.memory);
      if (!roomiest) continue;
      this.#put(node, roomiest);
      roomiest.target -= 1;
    }
  }

  /** Each part up to its target, along the links. */
  grow(): void {
    for (const budget of this.#budgets) {
      for (let left = budget.target; left > 0; left -= 1) {
        const next = this.#nextFor(budget);
        if (!next) break;
        this.#put(next, budget);
      }
    }
  }

  /** The linked node that leaves fewest links open; a new beginning if none is linked. */
  #nextFor(budget: Budget): PlacedNode | undefined {
    const { neighbours, free } = this.#options;
    const open = free.filter((node) => !this.#at.has(node.id) && this.#fits(budget, node, 'all'));
    const linked = open.filter(({ id }) => this.#linksTo(id, budget.host.id) > 0);
    const best = greatest(linked, ({ id }) => {
      const others = (neighbours.get(id) ?? []).filter((other) => !this.#at.has(other));
      return 2 * this.#linksTo(id, budget.host.id) - others.length;
    });
    return best ?? seed(open, neighbours, this.#at);
  }

  /** Nodes that no part has taken, where they have most links, and where there is room. */
  addRest(): void {
    for (const node of this.#bySize.filter(({ id }) => !this.#at.has(id))) {
      for (const strictness of ['all', 'load', 'memory'] as const) {
        const open = this.#budgets.filter((budget) => this.#fits(budget, node, strictness));
        const best = greatest(open, (budget) => this.#linksTo(node.id, budget.host.id) * 1e6 + budget.nodes);
        if (!best) continue;
        this.#put(node, best);
        break;
      }
    }
  }

  /** Moves each node at most once, and keeps the moves up to the best moment. False if none saved a link. */
  refine(): boolean {
    const locked = new Set<string>();
    const undo: { node: PlacedNode; from: Budget }[] = [];
    let [sum, best, kept] = [0, 0, 0];
    for (let fruitless = 0; fruitless < FRUITLESS_MOVES; fruitless += 1) {
      const next = this.#bestMove(locked);
      if (!next) break;
      undo.push({ node: next.node, from: this.#budgetOf(next.node) });
      this.#move(next.node, next.to);
      locked.add(next.node.id);
      sum += next.gain;
      if (sum > best) [best, kept, fruitless] = [sum, undo.length, 0];
    }
    for (const { node, from } of undo.slice(kept).reverse()) this.#move(node, from);
    return best > 0;
  }

  /** The move that saves most links. */
  #bestMove(locked: ReadonlySet<string>): Move | undefined {
    let best: Move | undefined;
    for (const node of this.#options.free) {
      const here = this.#at.get(node.id);
      if (here === undefined || locked.has(node.id)) continue;
      const there = this.#linksByHost(node.id);
      for (const [host, links] of there) {
        const gain = links - (there.get(here) ?? 0);
        const to = this.#byHost.get(host);
        if (host === here || !to || (best && gain <= best.gain) || !this.#fits(to, node, 'all')) continue;
        best = { node, to, gain };
      }
    }
    return best;
  }

  #linksByHost(id: string): Map<string, number> {
    const there = new Map<string, number>();
    for (const other of this.#options.neighbours.get(id) ?? []) {
      const host = this.#at.get(other);
      if (host !== undefined) there.set(host, (there.get(host) ?? 0) + 1);
    }
    return there;
  }

  #linksTo(id: string, host: string): number {
    return (this.#options.neighbours.get(id) ?? []).filter((other) => this.#at.get(other) === host).length;
  }

  #fits(budget: Budget, node: PlacedNode, strictness: Strictness): boolean {
    return (
      this.#options.canRun(budget.host, node) &&
      node.memory <= budget.memory &&
      (strictness === 'memory' || node.load <= budget.load) &&
      (strictness !== 'all' || budget.nodes >= 1)
    );
  }

  #budgetOf({ id }: PlacedNode): Budget {
    return this.#byHost.get(this.#at.get(id)!)!;
  }

  #put(node: PlacedNode, budget: Budget): void {
    spend(budget, node, 1);
    this.#at.set(node.id, budget.host.id);
  }

  #move(node: PlacedNode, to: Budget): void {
    spend(this.#budgetOf(node), node, -1);
    this.#put(node, to);
  }
}

function spend(budget: Budget, { memory, load }: PlacedNode, times: 1 | -1): void {
  budget.memory -= times * memory;
  budget.load -= times * load;
  budget.nodes -= times;
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
