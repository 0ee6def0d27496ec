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

type Open = Map<string, PlacedNode>;
/** Open nodes that are linked to a part, with the gain of adding them and their positions. */
type Linked = Map<string, { node: PlacedNode; gain: number; index: number }>;

/** The parts of a lab as they are made. */
class Parts {
  readonly #options: PartitionOptions;
  readonly #budgets: readonly Budget[];
  readonly #byHost: ReadonlyMap<string, Budget>;
  /** The hosts of placed nodes, by node id. */
  readonly #at: Map<string, string>;
  readonly #bySize: readonly PlacedNode[];
  /** Positions of the free nodes. */
  readonly #order: ReadonlyMap<string, number>;
  /** By position: how many links the best move of a node saves, if there is room. */
  readonly #mostSaved: Float64Array;

  constructor(options: PartitionOptions) {
    const { hosts, free, pinned } = options;
    this.#options = options;
    this.#budgets = budgetsOf(hosts, free, pinned);
    this.#byHost = new Map(this.#budgets.map((budget) => [budget.host.id, budget]));
    this.#at = new Map(pinned);
    this.#order = new Map(free.map(({ id }, index) => [id, index]));
    this.#mostSaved = new Float64Array(free.length);
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
    const { neighbours } = this.#options;
    for (const budget of this.#budgets) {
      const open = this.#openTo(budget);
      const linked: Linked = new Map();
      const weigh = (id: string): void => {
        const node = open.get(id);
        const gain = node && this.#gain(id, budget.host.id);
        if (gain !== undefined) linked.set(id, { node: node!, gain, index: this.#order.get(id)! });
      };
      for (const id of open.keys()) weigh(id);
      const edge: PlacedNode[] = [];
      for (let left = budget.target; left > 0; left -= 1) {
        const next = this.#bestLinked(budget, open, linked) ?? this.#seed(budget, open, edge);
        if (!next) break;
        this.#put(next, budget);
        open.delete(next.id);
        linked.delete(next.id);
        for (const other of new Set(neighbours.get(next.id))) weigh(other);
      }
    }
  }

  /** Free nodes that fit, in their order. What does not fit any more leaves them: the room of a part only shrinks. */
  #openTo(budget: Budget): Open {
    const open = this.#options.free.filter((node) => !this.#at.has(node.id) && this.#fits(budget, node, 'all'));
    return new Map(open.map((node) => [node.id, node]));
  }

  /** Fewer links left open are better; undefined without a link to the part. */
  #gain(id: string, host: string): number | undefined {
    const links = this.#linksTo(id, host);
    if (links === 0) return undefined;
    const others = (this.#options.neighbours.get(id) ?? []).filter((other) => !this.#at.has(other));
    return 2 * links - others.length;
  }

  /** The node of the greatest gain, and the first of several. */
  #bestLinked(budget: Budget, open: Open, linked: Linked): PlacedNode | undefined {
    let best: { node?: PlacedNode; gain: number; index: number } = { gain: Number.NEGATIVE_INFINITY, index: 0 };
    for (const one of linked.values()) {
      if (one.gain < best.gain || (one.gain === best.gain && one.index > best.index)) continue;
      if (hasRoom(budget, one.node, 'all')) {
        best = one;
        continue;
      }
      linked.delete(one.node.id);
      open.delete(one.node.id);
    }
    return best.node;
  }

  /** A node at the edge of what is left: the last one of a walk along the links. @param edge the rest of the walk */
  #seed(budget: Budget, open: Open, edge: PlacedNode[]): PlacedNode | undefined {
    const fits = (node: PlacedNode): boolean => open.has(node.id) && hasRoom(budget, node, 'all');
    for (let last = edge.pop(); last; last = edge.pop()) if (fits(last)) return last;
    for (const first of open.values()) {
      if (!fits(first)) {
        open.delete(first.id);
        continue;
      }
      const seen = new Set([first.id]);
      for (const id of seen) {
        const node = open.get(id);
        if (node) edge.push(node);
        for (const other of this.#options.neighbours.get(id) ?? []) if (!this.#at.has(other)) seen.add(other);
      }
      for (let last = edge.pop(); last; last = edge.pop()) if (fits(last)) return last;
    }
    return undefined;
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
    for (const { id } of this.#options.free) this.#weighMoves(id);
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
    for (const [index, node] of this.#options.free.entries()) {
      if (this.#mostSaved[index]! <= (best?.gain ?? Number.NEGATIVE_INFINITY) || locked.has(node.id)) continue;
      const here = this.#at.get(node.id)!;
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

  /** Notes how many links the best move of a node saves, if there is room. */
  #weighMoves(id: string): void {
    const index = this.#order.get(id);
    if (index === undefined) return;
    const here = this.#at.get(id);
    const there = this.#linksByHost(id);
    let most = Number.NEGATIVE_INFINITY;
    for (const [host, links] of there) if (host !== here) most = Math.max(most, links - (there.get(here!) ?? 0));
    this.#mostSaved[index] = here === undefined ? Number.NEGATIVE_INFINITY : most;
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
    return this.#options.canRun(budget.host, node) && hasRoom(budget, node, strictness);
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
    for (const id of new Set([node.id, ...(this.#options.neighbours.get(node.id) ?? [])])) this.#weighMoves(id);
  }
}

function hasRoom(budget: Budget, { memory, load }: PlacedNode, strictness: Strictness): boolean {
  return (
    memory <= budget.memory &&
    (strictness === 'memory' || load <= budget.load) &&
    (strictness !== 'all' || budget.nodes >= 1)
  );
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

export function greatest<T>(values: readonly T[], size: (value: T) => number): T | undefined {
  let best: T | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    const found = size(value);
    if (found > most) [best, most] = [value, found];
  }
  return best;
}
