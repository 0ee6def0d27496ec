// Names of nodes: unique within a project, numbered on request (as in release 2.2.57).
import { conflict } from '../../failures.ts';

export class NamePool {
  readonly #used = new Set<string>();
  /** By format, the lowest number that may be free; all lower ones are taken. Reset when a name is released. */
  readonly #lowest = new Map<string, number>();

  /**
   * Reserves a name for a node: spaces are removed, `{0}` and `{id}` become the lowest free number, a taken name gets a
   * number.
   * @throws Failure `conflict` for unknown placeholders
   */
  allocate(wanted: string): string {
    let name = wanted.replaceAll(' ', '');
    if (this.#used.has(name)) name = name.replace(/\d+$/, '{0}');
    if (/\{(0|id)\}/.test(name)) return this.#take(this.#numbered(placeholders(name)));
    return this.#take(this.#used.has(name) ? this.#numbered((number) => `${name}${number}`, name) : name);
  }

  /** Reserves another name for a node, possibly its own again; its present name stays reserved until it is released. */
  rename(name: string, wanted: string): string {
    this.release(name);
    try {
      return this.allocate(wanted);
    } finally {
      this.#take(name);
    }
  }

  release(name: string): void {
    this.#used.delete(name);
    this.#lowest.clear();
  }

  #take(name: string): string {
    this.#used.add(name);
    return name;
  }

  #numbered(format: (number: number) => string, key = format(0)): string {
    let number = this.#lowest.get(key) ?? 1;
    while (this.#used.has(format(number))) number += 1;
    this.#lowest.set(key, number);
    return format(number);
  }
}

function placeholders(name: string): (number: number) => string {
  const rest = name.replaceAll(/\{(0|id|name)\}/g, '');
  if (/[{}]/.test(rest)) {
    throw conflict(`name: "${name}" has a placeholder that means nothing; use {0}, {id} or {name}.`);
  }
  return (number) => name.replaceAll(/\{(0|id)\}/g, String(number)).replaceAll('{name}', 'Node');
}

/** The names reserved for a node during a rename; all but the final one are released. */
export class Renaming {
  readonly #pool: NamePool;
  readonly #names: string[];

  constructor(pool: NamePool, name: string) {
    this.#pool = pool;
    this.#names = [name];
  }

  /** Reserves a name close to the wanted one for the node. @throws Failure as `NamePool.allocate` */
  take(wanted: string): string {
    const last = this.#names.at(-1) as string;
    if (!this.#names.includes(wanted)) this.#names.push(this.#pool.rename(last, wanted));
    else if (wanted !== last) this.#names.push(wanted);
    return this.#names.at(-1) as string;
  }

  /** Releases all names but the node's final one, if any. */
  end(name?: string): void {
    for (const taken of new Set(this.#names)) if (taken !== name) this.#pool.release(taken);
  }
}
