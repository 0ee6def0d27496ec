// A range of ports. Assigns the lowest free one and records owners.
import { conflict } from '../../failures.ts';

export interface PortPoolOptions {
  /** First and last port of the range. */
  range: readonly [number, number];
  /** Use of the ports, for messages: `console (TCP)`. */
  purpose: string;
  /** The configuration keys of the range, for messages. */
  keys: string;
  /** Ports that are only assigned on request. */
  avoided?: ReadonlySet<number>;
  /**
   * Whether ports that other programs were found to use are skipped until no other port is left. Checking thousands of
   * them again is slow.
   */
  passesOver?: boolean;
  /** Whether no other program on this host uses the port. */
  bindable(port: number): Promise<boolean>;
}

export class PortPool {
  readonly range: readonly [number, number];
  readonly #options: PortPoolOptions;
  readonly #owners = new Map<number, string>();
  readonly #portsOf = new Map<string, Set<number>>();
  /** Ports of nodes from the previous run, which will request them again, and their owners. */
  #expected = new Map<number, string>();
  /** Every port of the range below this one is taken or avoided. */
  #lowest: number;
  /**
   * For a pool that skips ports: every port below this one was checked, and is taken, returned or used by another
   * program.
   */
  #next: number;
  /** Returned ports below `#next`. */
  readonly #returned = new Set<number>();

  constructor(options: PortPoolOptions) {
    this.#options = options;
    this.range = options.range;
    this.#lowest = options.range[0];
    this.#next = options.range[0];
  }

  /**
   * Reserves `wanted` if it is in the range and free, otherwise the lowest free port. `range` replaces the pool's own.
   * @param owner the project that it belongs to
   * @throws Failure `conflict` if no port is free
   */
  async reserve(owner: string, wanted?: number, range = this.range): Promise<number> {
    const [first, last] = range;
    if (wanted !== undefined && (await this.claim(owner, wanted, range))) return wanted;
    for (const port of this.#candidates(range)) {
      if (this.#options.avoided?.has(port) || this.#owners.has(port)) {
        if (port === this.#lowest) this.#lowest += 1;
        continue;
      }
      if (!this.#expected.has(port) && (await this.#take(port, owner))) {
        if (range === this.range) this.#next = Math.max(this.#next, port + 1);
        return port;
      }
      this.#returned.delete(port);
    }
    throw conflict(
      `No ${this.#options.purpose} port is free between ${first} and ${last}: stop nodes that are not needed, or widen the range with ${this.#options.keys}.`,
    );
  }

  /** The ports of a range in the order of checking. */
  *#candidates(range: readonly [number, number]): Generator<number> {
    const [first, last] = range;
    if (range === this.range && this.#options.passesOver) {
      yield* [...this.#returned].sort((one, other) => one - other);
      for (let port = this.#next; port <= last; port += 1) yield port;
    }
    const start = range === this.range ? Math.max(first, this.#lowest) : first;
    for (let port = start; port <= last; port += 1) yield port;
  }

  /** Reserves this port if it is in the range and free. Returns whether it did. */
  async claim(owner: string, port: number, range = this.range): Promise<boolean> {
    const [first, last] = range;
    if ((this.#expected.get(port) ?? owner) !== owner) return false;
    return port >= first && port <= last && (await this.#take(port, owner));
  }

  /**
   * Reserves a port that a program from the previous run still uses, without checking that it is free. Returns false if
   * another owner has it.
   */
  keep(owner: string, port: number): boolean {
    if (this.#owners.has(port)) return false;
    this.#owners.set(port, owner);
    this.#note(owner, port);
    return true;
  }

  /**
   * Keeps these ports for their owners, which get them only by number, until the next call. Nodes that accept any port
   * must not take another node's.
   */
  expect(ports: ReadonlyMap<number, string>): void {
    this.#expected = new Map(ports);
  }

  /** Returns a port; ignored if the owner does not have it. */
  release(owner: string, port: number): void {
    if (this.#owners.get(port) !== owner) return;
    this.#owners.delete(port);
    const own = this.#portsOf.get(owner);
    own?.delete(port);
    if (own?.size === 0) this.#portsOf.delete(owner);
    if (port >= this.range[0] && port < this.#lowest) this.#lowest = port;
    if (port >= this.range[0] && port < this.#next) this.#returned.add(port);
  }

  releaseAll(owner: string): void {
    for (const port of this.#portsOf.get(owner) ?? []) this.release(owner, port);
  }

  get used(): number[] {
    return [...this.#owners.keys()].sort((a, b) => a - b);
  }

  /** Marks the port before checking it, so that two requests never choose the same one. */
  async #take(port: number, owner: string): Promise<boolean> {
    if (this.#owners.has(port)) return false;
    this.#owners.set(port, owner);
    if (await this.#options.bindable(port)) {
      this.#returned.delete(port);
      this.#note(owner, port);
      return true;
    }
    this.#owners.delete(port);
    if (port >= this.range[0] && port < this.#lowest) this.#lowest = port;
    return false;
  }

  #note(owner: string, port: number): void {
    const own = this.#portsOf.get(owner) ?? new Set();
    this.#portsOf.set(owner, own.add(port));
  }
}
