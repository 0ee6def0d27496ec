// Whether clouds and NATs of this host reach networks outside of the labs. On a host of a cluster they do not while other hosts may run them:
// the host closes the access by its own clock when its lease was not renewed for too long, and the controller opens it again.
import { conflict } from '../../failures.ts';

/** A port of a cloud or a NAT that has a NIO. */
export interface Way {
  readonly projectId: string;
  /** Opens its uplink, if the access is open. */
  connect(): Promise<void>;
  /** Closes its uplink; the NIO stays. */
  disconnect(): Promise<void>;
}

export class OutsideAccess {
  readonly #ways = new Set<Way>();
  readonly #changed: (isOpen: boolean, projects: ReadonlySet<string>) => void;
  #isOpen = true;
  /** How long (ms) after its last renewal the lease may have ended; undefined: no other host runs what is here. */
  #limit: number | undefined;
  /** When the last renewal of the lease began. Undefined outside of a cluster, and after its end. */
  #renewed: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param changed called with the projects whose nodes reach the outside, or reach it no more */
  constructor(changed: (isOpen: boolean, projects: ReadonlySet<string>) => void) {
    this.#changed = changed;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get limitMs(): number | undefined {
    return this.#limit;
  }

  add(way: Way): void {
    this.#ways.add(way);
  }

  delete(way: Way): void {
    this.#ways.delete(way);
  }

  /**
   * The lease was renewed.
   * @param since when the renewal began (`performance.now()`)
   * @param isContinued false if the lease had ended before, so that others may run what is here
   */
  renewed(since: number, isContinued: boolean): void {
    const isFirst = this.#renewed === undefined;
    this.#renewed = since;
    if (!isContinued && !isFirst && this.#limit !== undefined) this.#close();
    this.#await();
  }

  /**
   * The controller has removed what other hosts run instead.
   * @throws Failure `conflict` without a lease
   */
  open(limitMs: number | undefined): void {
    if (limitMs !== undefined && (this.#renewed === undefined || performance.now() - this.#renewed >= limitMs))
      throw conflict('close_after_seconds: this host holds no lease of a cluster now.');
    this.#limit = limitMs;
    this.#await();
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#tell();
    // A port reports itself why its uplink cannot be opened.
    for (const way of this.#ways) void way.connect();
  }

  #await(): void {
    clearTimeout(this.#timer);
    if (this.#limit === undefined || this.#renewed === undefined) return;
    const remaining = this.#renewed + this.#limit - performance.now();
    this.#timer = setTimeout(() => {
      // A timer may be a part of a millisecond early: the lease has ended all the same.
      this.#renewed = undefined;
      this.#close();
    }, remaining).unref();
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const way of this.#ways) void way.disconnect();
    this.#tell();
  }

  #tell(): void {
    this.#changed(this.#isOpen, new Set([...this.#ways].map(({ projectId }) => projectId)));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
