// A range of ports from which the lowest free one is given away, and who has which.
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
  /** Whether nobody else on this host uses the port. */
  bindable(port: number): Promise<boolean>;
}

export class PortPool {
  readonly range: readonly [number, number];
  private readonly options: PortPoolOptions;
  private readonly owners = new Map<number, string>();
  private readonly portsOf = new Map<string, Set<number>>();
  /** Every port of the range below this one is taken or avoided. */
  private lowest: number;

  constructor(options: PortPoolOptions) {
    this.options = options;
    this.range = options.range;
    this.lowest = options.range[0];
  }

  /**
   * Reserves `wanted` if it lies in the range and is free, else the lowest free port.
   * @param owner the project that it belongs to
   * @throws Failure `conflict` when no port is free
   */
  async reserve(owner: string, wanted?: number): Promise<number> {
    const [first, last] = this.range;
    if (wanted !== undefined && (await this.claim(owner, wanted))) return wanted;
    for (let port = this.lowest; port <= last; port += 1) {
      if (this.options.avoided?.has(port) || this.owners.has(port)) {
        if (port === this.lowest) this.lowest += 1;
        continue;
      }
      if (await this.take(port, owner)) return port;
    }
    throw new Failure(
      'conflict',
      `No ${this.options.purpose} port is free between ${first} and ${last}: stop nodes that are not needed, or widen the range with ${this.options.keys}.`,
    );
  }

  /** Reserves this port, if it lies in the range and is free; says whether it did. */
  async claim(owner: string, port: number): Promise<boolean> {
    const [first, last] = this.range;
    return port >= first && port <= last && (await this.take(port, owner));
  }

  /**
   * Reserves a port for a program of a former life, which has it still: the system is not asked whether it is free. Says whether
   * nobody else had it reserved.
   */
  keep(owner: string, port: number): boolean {
    if (this.owners.has(port)) return false;
    this.owners.set(port, owner);
    this.note(owner, port);
    return true;
  }

  /** Gives a port back; nothing happens if it is not the owner's. */
  release(owner: string, port: number): void {
    if (this.owners.get(port) !== owner) return;
    this.owners.delete(port);
    const own = this.portsOf.get(owner);
    own?.delete(port);
    if (own?.size === 0) this.portsOf.delete(owner);
    if (port < this.lowest) this.lowest = port;
  }

  /** Gives back whatever the owner still has. */
  releaseAll(owner: string): void {
    for (const port of this.portsOf.get(owner) ?? []) this.release(owner, port);
  }

  get used(): number[] {
    return [...this.owners.keys()].sort((a, b) => a - b);
  }

  /** Marks the port before the system is asked, so that two requests never choose the same one. */
  private async take(port: number, owner: string): Promise<boolean> {
    if (this.owners.has(port)) return false;
    this.owners.set(port, owner);
    if (await this.options.bindable(port)) {
      this.note(owner, port);
      return true;
    }
    this.owners.delete(port);
    if (port < this.lowest) this.lowest = port;
    return false;
  }

  private note(owner: string, port: number): void {
    const own = this.portsOf.get(owner) ?? new Set();
    this.portsOf.set(owner, own.add(port));
  }
}
