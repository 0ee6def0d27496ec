// Where the names of nodes are: below the symbol, or on the side where they cover least; and which are shown when the map is zoomed out.
import { isCrossed } from '../../layout/count-faults.ts';
import { type Box, overlap, type Point } from '../model/lab/geometry.ts';
import { nameAt, SIDES, type Side, type Size } from '../model/lab/label-place.ts';

/** What a side costs that is not the usual one; a link of the node or of others below the name; another name or a symbol. */
const COST = {
  side: { below: 0, above: 0.5, right: 0.8, left: 0.9 },
  ownLink: 1,
  link: 2,
  covered: 100,
} as const;

export interface NameBox {
  id: string;
  /** Names of higher rank are placed first. */
  rank: number;
  symbol: Box;
  name: Box;
}

export type NamedNode = Pick<NameBox, 'id' | 'rank' | 'symbol'> & {
  size: Size;
  /** Where a user has put the name. */
  placed: Box | undefined;
};

export interface LinkLine {
  /** Ids of the nodes. */
  ends: readonly [string, string];
  from: Point;
  to: Point;
}

/** Names and links between two pauses of a choice. */
const LOT = 250;

/** The best side for each name that no user has put elsewhere. Pauses now and then, so that thousands of names can be placed over several frames. */
export function* choosingSides(
  nodes: readonly NamedNode[],
  links: readonly LinkLine[],
): Generator<void, Map<string, Side>> {
  let count = 0;
  const isPause = (): boolean => {
    count += 1;
    return count % LOT === 0;
  };
  const sides = new Map<string, Side>();
  if (nodes.length === 0) return sides;
  const square = Math.max(...nodes.map(({ size }) => size.width));
  const [taken, lines] = [new Places<Box>(square), new Places<LinkLine>(square)];
  for (const { id, symbol, placed } of nodes) {
    taken.add(id, symbol, symbol);
    if (placed) taken.add(id, placed, placed);
    if (isPause()) yield;
  }
  for (const link of links) {
    for (const part of partsOf(link, square)) lines.add('', part, link);
    if (isPause()) yield;
  }
  for (const { id, symbol, size, placed } of nodes.toSorted((one, other) => other.rank - one.rank)) {
    if (isPause()) yield;
    if (placed) continue;
    let [best, least]: [Side, number] = ['below', Number.POSITIVE_INFINITY];
    for (const side of SIDES) {
      let cost: number = COST.side[side];
      if (cost >= least) continue;
      const name = nameAt(side, symbol, size);
      if (taken.near(name).some((other) => other.id !== id && overlap(other.box, name))) cost += COST.covered;
      const below = cost < least ? new Set(lines.near(name).map(({ what }) => what)) : [];
      for (const { ends, from, to } of below)
        if (isCrossed(from, to, name)) cost += ends.includes(id) ? COST.ownLink : COST.link;
      if (cost < least) [best, least] = [side, cost];
    }
    sides.set(id, best);
    const name = nameAt(best, symbol, size);
    taken.add(id, name, name);
  }
  return sides;
}

/** Ids of the nodes whose names have room. */
export function namesWithRoom(nodes: readonly NameBox[]): Set<string> {
  const shown = new Set<string>();
  if (nodes.length === 0) return shown;
  const taken = new Places<Box>(Math.max(...nodes.map(({ name }) => name.width)));
  for (const { id, symbol } of nodes) taken.add(id, symbol, symbol);
  for (const { id, name } of nodes.toSorted((one, other) => other.rank - one.rank)) {
    if (taken.near(name).some((other) => other.id !== id && overlap(other.box, name))) continue;
    taken.add(id, name, name);
    shown.add(id);
  }
  return shown;
}

/** Boxes around the parts of a long line, so that it is only in the squares that it passes. */
function partsOf({ from, to }: LinkLine, length: number): Box[] {
  const count = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / length));
  const [dx, dy] = [(to.x - from.x) / count, (to.y - from.y) / count];
  return Array.from({ length: count }, (_, at) => {
    const [x, y] = [from.x + dx * at, from.y + dy * at];
    return { x: Math.min(x, x + dx), y: Math.min(y, y + dy), width: Math.abs(dx), height: Math.abs(dy) };
  });
}

interface Placed<T> {
  id: string;
  box: Box;
  what: T;
}

/** Rows of squares to each side of the middle for which a square has a number of its own. */
const MOST_ROWS = 2 ** 25;

/** Things by squares of the map, so that each is compared with its neighbours alone. */
class Places<T> {
  readonly #squares = new Map<number, Placed<T>[]>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  add(id: string, box: Box, what: T): void {
    const placed = { id, box, what };
    for (const key of this.#keysOf(box)) {
      const square = this.#squares.get(key);
      if (square) square.push(placed);
      else this.#squares.set(key, [placed]);
    }
  }

  /** All in the squares of a box; what is in several of them more than once. */
  near(box: Box): Placed<T>[] {
    const found: Placed<T>[] = [];
    for (const key of this.#keysOf(box)) for (const placed of this.#squares.get(key) ?? []) found.push(placed);
    return found;
  }

  /** Numbers, as texts would take most of the time. */
  #keysOf({ x, y, width, height }: Box): number[] {
    const keys: number[] = [];
    const [left, top] = [Math.floor(x / this.#size), Math.floor(y / this.#size)];
    const [right, bottom] = [Math.floor((x + width) / this.#size), Math.floor((y + height) / this.#size)];
    for (let column = left; column <= right; column += 1)
      for (let row = top; row <= bottom; row += 1) keys.push(column * 2 * MOST_ROWS + row);
    return keys;
  }
}
