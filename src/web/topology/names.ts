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

/** Parts of a line at most. */
const MOST_PARTS = 64;

/** Boxes around the parts of a long line, so that it is only in the squares that it passes. */
function partsOf({ from, to }: LinkLine, length: number): Box[] {
  const count = Math.min(MOST_PARTS, Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / length)));
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
/** Squares of a box at most; a larger box is in larger squares. */
const MOST_SQUARES = 16;
/** How many times as wide the next larger squares are. */
const LARGER = 4;

/** Things by squares of the map, so that each is compared with its neighbours alone, however far or large one of them is. */
class Places<T> {
  /** The squares in use, by their size. */
  readonly #grids = new Map<number, Map<number, Placed<T>[]>>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  add(id: string, box: Box, what: T): void {
    const placed = { id, box, what };
    let size = this.#size;
    let keys = keysOf(box, size);
    for (; !keys; keys = keysOf(box, size)) size *= LARGER;
    const squares = this.#grids.get(size) ?? new Map<number, Placed<T>[]>();
    this.#grids.set(size, squares);
    for (const key of keys) {
      const square = squares.get(key);
      if (square) square.push(placed);
      else squares.set(key, [placed]);
    }
  }

  /** All in the squares of a box; what is in several of them more than once. */
  near(box: Box): Placed<T>[] {
    const found: Placed<T>[] = [];
    for (const [size, squares] of this.#grids)
      for (const key of keysOf(box, size) ?? squares.keys())
        for (const placed of squares.get(key) ?? []) found.push(placed);
    return found;
  }
}

/** The squares of this size that a box is in, as numbers, as texts would take most of the time; undefined for too many. */
function keysOf({ x, y, width, height }: Box, size: number): number[] | undefined {
  const [left, top] = [Math.floor(x / size), Math.floor(y / size)];
  const [columns, rows] = [Math.floor((x + width) / size) - left + 1, Math.floor((y + height) / size) - top + 1];
  if (columns * rows > MOST_SQUARES) return undefined;
  const keys: number[] = [];
  for (let column = 0; column < columns; column += 1)
    for (let row = 0; row < rows; row += 1) keys.push((left + column) * 2 * MOST_ROWS + top + row);
  return keys;
}
