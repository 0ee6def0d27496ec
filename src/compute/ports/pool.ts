// A range of ports from which free ones are given away, the lowest first, and who has which.
import { Failure } from '../../failures.ts';

export interface PortPoolOptions {
  /** First and last port of the range. */
  range: readonly [number, number];
  /** What the ports are, for messages: `console (TCP)`. */
  purpose: string;
  /** The configuration keys that set the range, for messages. */
  keys: string;
  /** Ports that are never chosen, though they may be asked for. */
  avoided?: ReadonlySet<number>;
  /**
   * Whether ports that somebody else was found to have are passed over until no other port is left. To ask the system for each of
   * thousands of them takes longer than all else.
   */
  passesOver?: boolean;
  /** Whether nobody else on this host uses the port. */
  bindable(port: number): Promise<boolean>;
}

export class PortPool {
  readonly range: readonly [number, number];
  readonly #options: PortPoolOptions;
  readonly #owners = new Map<number, string>();
  readonly #portsOf = new Map<string, Set<number>>();
  /** Ports that nodes of a former life had and will ask for again, and their owners. */
  #expected = new Map<number, string>();
  /** Every port of the range below this one is taken or avoided. */
  #lowest: number;
  /** Of a pool that passes ports over: below this one each port was looked at, and is taken, given back or somebody else's. */
  #next: number;
  /** Ports below `#next` that were given back. */
  readonly #returned = new Set<number>();

  constructor(options: PortPoolOptions) {
    this.#options = options;
    this.range = options.range;
    this.#lowest = options.range[0];
    this.#next = options.range[0];
  }

  /**
   * Reserves `wanted` if it lies in the range and is free, else the lowest port that is known to be free. `range` is another one than the pool's own.
   * @param owner the project that it belongs to
   * @throws Failure `conflict` when no port is free
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
    throw new Failure(
      'conflict',
      `No ${this.#options.purpose} port is free between ${first} and ${last}: stop nodes that are not needed, or widen the range with ${this.#options.keys}.`,
    );
  }

  /** The ports of a range in the order in which they are looked at. */
  *#candidates(range: readonly [number, number]): Generator<number> {
    const [first, last] = range;
    if (range === this.range && this.#options.passesOver) {
      yield* [...this.#returned].sort((one, other) => one - other);
      for (let port = this.#next; port <= last; port += 1) yield port;
    }
    const start = range === this.range ? Math.max(first, this.#lowest) : first;
    for (let port = start; port <= last; port += 1) yield port;
  }

  /** Reserves this port, if it lies in the range and is free; says whether it did. */
  async claim(owner: string, port: number, range = this.range): Promise<boolean> {
    const [first, last] = range;
    if ((this.#expected.get(port) ?? owner) !== owner) return false;
    return port >= first && port <= last && (await this.#take(port, owner));
  }

  /**
   * Reserves a port for a program of a former life, which has it still: the system is not asked whether it is free. Says whether
   * nobody else had it reserved.
   */
  keep(owner: string, port: number): boolean {
    if (this.#owners.has(port)) return false;
    this.#owners.set(port, owner);
    this.#note(owner, port);
    return true;
  }

  /**
   * Nobody but its owner gets one of these ports, and only when it is asked for, until this is called again. Nodes that take any port must not
   * take one that another node will have again.
   */
  expect(ports: ReadonlyMap<number, string>): void {
    this.#expected = new Map(ports);
  }

  /** Gives a port back; nothing happens if it is not the owner's. */
  release(owner: string, port: number): void {
    if (this.#owners.get(port) !== owner) return;
    this.#owners.delete(port);
    const own = this.#portsOf.get(owner);
    own?.delete(port);
    if (own?.size === 0) this.#portsOf.delete(owner);
    if (port >= this.range[0] && port < this.#lowest) this.#lowest = port;
    if (port >= this.range[0] && port < this.#next) this.#returned.add(port);
  }

  /** Gives back whatever the owner still has. */
  releaseAll(owner: string): void {
    for (const port of this.#portsOf.get(owner) ?? []) this.release(owner, port);
  }

  get used(): number[] {
    return [...this.#owners.keys()].sort((a, b) => a - b);
  }

  /** Marks the port before the system is asked, so that two requests never choose the same one. */
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
