// Names of nodes: unique within a project, numbered where asked (as in release 2.2.57).
import { Failure } from '../../failures.ts';

export class NamePool {
  readonly #used = new Set<string>();
  /** The lowest number that may still be free, by format; numbers below were found taken. Forgotten when a name is given back. */
  readonly #lowest = new Map<string, number>();

  /**
   * Takes a name for a node: spaces are removed, `{0}` and `{id}` become the lowest free number, a taken name gets one.
   * @throws Failure `conflict` for placeholders that mean nothing
   */
  allocate(wanted: string): string {
    let name = wanted.replaceAll(' ', '');
    if (this.#used.has(name)) name = name.replace(/\d+$/, '{0}');
    if (/\{(0|id)\}/.test(name)) return this.#take(this.#numbered(placeholders(name)));
    return this.#take(this.#used.has(name) ? this.#numbered((number) => `${name}${number}`, name) : name);
  }

  /** Takes another name for a node that has one, which it may take again; it keeps the one that it has until that is given back. */
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
    throw new Failure('conflict', `name: "${name}" has a placeholder that means nothing; use {0}, {id} or {name}.`);
  }
  return (number) => name.replaceAll(/\{(0|id)\}/g, String(number)).replaceAll('{name}', 'Node');
}

/** The names that one node takes while it is being renamed: all but the one that it ends with are given back. */
export class Renaming {
  readonly #pool: NamePool;
  readonly #names: string[];

  constructor(pool: NamePool, name: string) {
    this.#pool = pool;
    this.#names = [name];
  }

  /** The name that the node gets for the one that is wanted. @throws Failure as `NamePool.allocate` */
  take(wanted: string): string {
    const last = this.#names.at(-1) as string;
    if (!this.#names.includes(wanted)) this.#names.push(this.#pool.rename(last, wanted));
    else if (wanted !== last) this.#names.push(wanted);
    return this.#names.at(-1) as string;
  }

  /** Gives back all names but the one that the node has from now on, if it has any. */
  end(name?: string): void {
    for (const taken of new Set(this.#names)) if (taken !== name) this.#pool.release(taken);
  }
}
