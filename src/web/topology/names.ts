// Which names of nodes are shown when the map is zoomed out: those of the most important nodes that cover neither each other nor a symbol.
import { type Box, overlap } from '../model/lab/geometry.ts';

export interface NameBox {
  id: string;
  /** Names of higher rank are placed first. */
  rank: number;
  symbol: Box;
  name: Box;
}

/** Ids of the nodes whose names have room. */
export function namesWithRoom(nodes: readonly NameBox[]): Set<string> {
  const shown = new Set<string>();
  if (nodes.length === 0) return shown;
  const taken = new Places(Math.max(...nodes.map(({ name }) => name.width)));
  for (const { id, symbol } of nodes) taken.add(id, symbol);
  for (const { id, name } of nodes.toSorted((one, other) => other.rank - one.rank)) {
    if (!taken.isFree(id, name)) continue;
    taken.add(id, name);
    shown.add(id);
  }
  return shown;
}

/** Boxes by squares of the map, so that each is compared with its neighbours alone. */
class Places {
  readonly #squares = new Map<string, { id: string; box: Box }[]>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  add(id: string, box: Box): void {
    for (const key of this.#keysOf(box)) {
      const square = this.#squares.get(key);
      if (square) square.push({ id, box });
      else this.#squares.set(key, [{ id, box }]);
    }
  }

  /** Whether nothing of another node is there. */
  isFree(id: string, box: Box): boolean {
    return this.#keysOf(box).every((key) =>
      (this.#squares.get(key) ?? []).every((other) => other.id === id || !overlap(other.box, box)),
    );
  }

  #keysOf({ x, y, width, height }: Box): string[] {
    const keys: string[] = [];
    for (let column = Math.floor(x / this.#size); column <= Math.floor((x + width) / this.#size); column += 1)
      for (let row = Math.floor(y / this.#size); row <= Math.floor((y + height) / this.#size); row += 1)
        keys.push(`${column} ${row}`);
    return keys;
  }
}
