// The other hosts of a cluster, as its controller sees them: who holds a lease, who has lost it, and who was taken out.
import type { ClusterFiles } from './layout.ts';

export interface NamedHost {
  id: string;
  name: string;
}

export interface HostEvents {
  /** A host holds a lease that held none. */
  came(host: NamedHost): void;
  /** Its lease has ended. */
  lost(host: NamedHost): void;
  /** It has held no lease for a while, although NATS was reached. */
  absent(host: NamedHost): void;
  /** `labwired cluster forget` or `leave` has taken it out of the cluster. */
  forgotten(host: NamedHost): void;
}

export class Hosts {
  readonly #files: ClusterFiles;
  readonly #events: HostEvents;
  readonly #patience: number;
  /** Ids by name. */
  readonly #known = new Map<string, string>();
  readonly #held = new Set<string>();
  /** Those that have held a lease since the start and hold none now, each with the time when it counts as absent. */
  readonly #missing = new Map<string, NodeJS.Timeout | undefined>();
  #isReached = false;

  /**
   * @param known hosts that may hold a lease
   * @param patience how long (ms) one of them may hold none; 0: for ever
   */
  constructor(files: ClusterFiles, known: readonly NamedHost[], events: HostEvents, patience: number) {
    for (const { id, name } of known) this.#known.set(name, id);
    this.#files = files;
    this.#events = events;
    this.#patience = patience;
  }

  holds(name: string): boolean {
    return this.#held.has(name);
  }

  /** Whether a host with another name has this id. NATS lets a host write under its own name only, but any id. */
  isTaken({ id, name }: NamedHost): boolean {
    // Called for each renewal of each host.
    for (const [other, known] of this.#known) if (known === id && other !== name) return true;
    return false;
  }

  held(host: NamedHost): void {
    const { id, name } = host;
    this.#known.set(name, id);
    this.#found(name);
    if (this.#held.has(name)) return;
    this.#held.add(name);
    this.#events.came(host);
  }

  ended(name: string): void {
    const id = this.#known.get(name);
    if (!this.#held.delete(name) || id === undefined) return;
    this.#events.lost({ id, name });
    this.#await(name);
  }

  /** A host that holds no lease is absent after a while, though this server has not seen it. */
  expect({ id, name }: NamedHost): void {
    this.#known.set(name, id);
    if (!this.#held.has(name)) this.#await(name);
  }

  /** A host is absent only to a server that NATS reaches: otherwise this one may be the one that is cut off. */
  set isReached(isReached: boolean) {
    this.#isReached = isReached;
    for (const name of this.#missing.keys()) this.#await(name);
  }

  #await(name: string): void {
    clearTimeout(this.#missing.get(name));
    const report = (): void => {
      const id = this.#known.get(name);
      if (id !== undefined) this.#events.absent({ id, name });
    };
    const isAwaited = this.#isReached && this.#patience > 0;
    this.#missing.set(name, isAwaited ? setTimeout(report, this.#patience).unref() : undefined);
  }

  #found(name: string): void {
    clearTimeout(this.#missing.get(name));
    this.#missing.delete(name);
  }

  /**
   * Finds hosts that were taken out since the last call.
   * @param update brings this host's copy of the list of hosts up to date; without it the list is this host's own
   */
  async forgetRemoved(update?: () => Promise<void>): Promise<void> {
    // One that comes meanwhile may not be in the list yet.
    const before = [...this.#known];
    await update?.();
    if (before.length === 0) return;
    const names = await this.#files.hostNames();
    for (const [name, id] of before) {
      if (names.includes(name) || this.#known.get(name) !== id) continue;
      this.#known.delete(name);
      this.#held.delete(name);
      this.#found(name);
      this.#events.forgotten({ id, name });
    }
  }
}
