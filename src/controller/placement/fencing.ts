// Lets hosts of the cluster keep their clouds and NATs connected to networks outside of the labs only as long as no other host can run them.
import { LEASE_MS } from '../../api/leases.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';

export interface FencingOptions {
  computes: Computes;
  /** How long (ms) a host may hold no lease until others run its nodes; 0: for ever. */
  failoverMs: number;
  /** Whether another host may become the controller, and run what is here. */
  isSuccession: boolean;
  /** Whether a compute may still have what others run instead. */
  hasStray: (compute: Compute) => Promise<boolean>;
}

export class Fencing {
  readonly #options: FencingOptions;
  /** What hosts said last, in ms, by compute. */
  readonly #limits = new Map<string, number | undefined>();
  /** Computes that are being asked. */
  readonly #asked = new Set<string>();

  constructor(options: FencingOptions) {
    this.#options = options;
  }

  /** A host said so before this server was the controller. */
  expect(id: string, limitMs: number | undefined): void {
    if (!this.#limits.has(id)) this.#limits.set(id, limitMs);
  }

  /** A host holds its lease, and says how long after its renewal it closes the access; called with every renewal. */
  held(id: string, limitMs: number | undefined, isClosed: boolean): void {
    this.#limits.set(id, limitMs);
    if (limitMs === this.#limitOf(id) && !isClosed) return;
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    void this.#open(id).finally(() => this.#asked.delete(id));
  }

  /** Whether the clouds and NATs of a host that is gone are cut off. */
  isFenced(id: string): boolean {
    const [limit, wanted] = [this.#limits.get(id), this.#limitOf(id)];
    return limit !== undefined && wanted !== undefined && limit <= wanted;
  }

  /** Before others run its nodes, by as much as half of the time that they wait. */
  #limitOf(id: string): number | undefined {
    const { failoverMs, isSuccession } = this.#options;
    return failoverMs === 0 || (id === 'local' && !isSuccession) ? undefined : LEASE_MS + failoverMs / 2;
  }

  async #open(id: string): Promise<void> {
    const { computes, hasStray } = this.#options;
    const compute = computes.list().find((one) => one.id === id);
    if (!compute?.connected) return;
    try {
      // Until what was moved is removed there.
      await compute.ready();
      if (await hasStray(compute)) return;
      const limit = this.#limitOf(id);
      await compute.put('/network/outside', {
        body: { close_after_seconds: limit === undefined ? null : limit / 1_000 },
      });
    } catch (error) {
      // Again with its next renewal.
      log.debug('clouds and NATs of a host stay as they are', { host: compute.name, reason: messageOf(error) });
    }
  }
}
