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

/** The best side for each name that no user has put elsewhere. */
export function sidesOf(nodes: readonly NamedNode[], links: readonly LinkLine[]): Map<string, Side> {
  const sides = new Map<string, Side>();
  if (nodes.length === 0) return sides;
  const square = Math.max(...nodes.map(({ size }) => size.width));
  const [taken, lines] = [new Places<Box>(square), new Places<LinkLine>(square)];
  for (const { id, symbol, placed } of nodes) {
    taken.add(id, symbol, symbol);
    if (placed) taken.add(id, placed, placed);
  }
  for (const link of links) for (const part of partsOf(link, square)) lines.add('', part, link);
  for (const { id, symbol, size, placed } of nodes.toSorted((one, other) => other.rank - one.rank)) {
    if (placed) continue;
    let [best, least]: [Side, number] = ['below', Number.POSITIVE_INFINITY];
    for (const side of SIDES) {
      const name = nameAt(side, symbol, size);
      let cost: number = COST.side[side];
      if (taken.near(name).some((other) => other.id !== id && overlap(other.box, name))) cost += COST.covered;
      const below = new Set(lines.near(name).map(({ what }) => what));
      for (const { ends, from, to } of cost < least ? below : [])
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

/** Things by squares of the map, so that each is compared with its neighbours alone. */
class Places<T> {
  readonly #squares = new Map<string, Placed<T>[]>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  add(id: string, box: Box, what: T): void {
    for (const key of this.#keysOf(box)) {
      const square = this.#squares.get(key);
      if (square) square.push({ id, box, what });
      else this.#squares.set(key, [{ id, box, what }]);
    }
  }

  /** All in the squares of a box. */
  near(box: Box): Placed<T>[] {
    return this.#keysOf(box).flatMap((key) => this.#squares.get(key) ?? []);
  }

  #keysOf({ x, y, width, height }: Box): string[] {
    const keys: string[] = [];
    for (let column = Math.floor(x / this.#size); column <= Math.floor((x + width) / this.#size); column += 1)
      for (let row = Math.floor(y / this.#size); row <= Math.floor((y + height) / this.#size); row += 1)
        keys.push(`${column} ${row}`);
    return keys;
  }
}
