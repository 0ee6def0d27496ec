// Leases: each host keeps one key of the bucket, which NATS removes some seconds after its last renewal. Readers count the time since they
// received a lease by their own clock, so that clocks that are apart do no harm.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm, type KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import * as v from 'valibot';
import { LEASE_MS, Standby } from '../api/leases.ts';
import { conflict } from '../failures.ts';
import { BUCKET, BUCKET_STREAM } from './subjects.ts';

export const RENEWAL_MS = 1_500;

export const Lease = v.object({
  /** `local` and `auto` are computes of the controller. */
  id: v.pipe(v.string(), v.uuid()),
  /** Of the host's running server: a second one with the same id is a copy. */
  run: v.string(),
  name: v.string(),
  version: v.string(),
  address: v.string(),
  /** The address from which NATS sees the host: another one behind a masquerade. Hosts of older releases do not say it. */
  outside_address: v.optional(v.string()),
  port: v.number(),
  /** Hosts of older releases do not say it. */
  runs_nats: v.optional(v.boolean()),
  free_memory_bytes: v.number(),
  cores: v.number(),
  kvm: v.boolean(),
  node_types: v.array(v.string()),
  running_nodes: v.optional(v.number()),
  /** It may become the controller; `ready` when it has the whole log. */
  standby: v.optional(Standby),
  /** How long after its last renewal the host keeps clouds and NATs connected; without it for ever. */
  outside_closes_after_seconds: v.optional(v.number()),
  /** They are cut off, until the controller has removed what other hosts run. */
  outside_closed: v.optional(v.boolean()),
});
export type Lease = v.InferOutput<typeof Lease>;

/** Opens the bucket; the controller creates it. */
export async function leasesOf(nats: NatsConnection, controller: boolean): Promise<KV> {
  const kvm = new Kvm(jetstream(nats, { timeout: RENEWAL_MS }));
  if (!controller) return kvm.open(BUCKET);
  const bucket = await kvm.create(BUCKET, { ttl: LEASE_MS, history: 1 });
  const { streams } = await jetstreamManager(nats, { timeout: RENEWAL_MS });
  const { config } = await streams.info(BUCKET_STREAM);
  // By a header a host could remove the leases of all others with its own.
  if (config.allow_rollup_hdrs) await streams.update(BUCKET_STREAM, { allow_rollup_hdrs: false });
  return bucket;
}

/** Undefined if it is no lease, or says that it is another host's: NATS lets hosts write to the key with their own name only. */
function parsed(entry: Pick<KvEntry, 'key' | 'string'>): Lease | undefined {
  try {
    const lease = v.parse(Lease, JSON.parse(entry.string()));
    return lease.name === entry.key ? lease : undefined;
  } catch {
    return undefined;
  }
}

/** All valid leases, by name, each with its age when the newest one was renewed: by the clock of NATS alone. */
export async function readLeases(nats: NatsConnection): Promise<(Lease & { age_seconds: number })[]> {
  const kv = await leasesOf(nats, false);
  const { streams } = await jetstreamManager(nats, { timeout: RENEWAL_MS });
  // Not `kv.keys()`: hosts may not create consumers.
  const { state } = await streams.info(BUCKET_STREAM, { subjects_filter: '>' });
  const names = Object.keys(state.subjects ?? {}).map((subject) => subject.split('.').slice(2).join('.'));
  const found = await Promise.all(names.map((name) => kv.get(name)));
  const entries = found.filter((entry) => entry?.operation === 'PUT') as KvEntry[];
  const newest = Math.max(...entries.map(({ created }) => created.getTime()));
  return entries
    .flatMap((entry) => {
      const lease = parsed(entry);
      return lease ? [{ ...lease, age_seconds: Math.round((newest - entry.created.getTime()) / 100) / 10 }] : [];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * The entry of a host's lease, unless another host or server holds it.
 * @throws Failure `conflict`
 */
export async function ownEntry(kv: KV, { name, run }: Pick<Lease, 'name' | 'run'>): Promise<KvEntry | null> {
  const entry = await kv.get(name);
  const held = entry && entry.operation === 'PUT' ? parsed(entry) : undefined;
  if (!held || held.run === run) return entry;
  throw conflict(
    `Another host holds the name "${name}" (at ${held.address}): leave the cluster on one of both and join again under another name.`,
  );
}

/**
 * Writes this host's lease once.
 * @returns whether it was there before
 * @throws Failure `conflict` if another host holds the name
 */
export async function renewLease(kv: KV, lease: Lease): Promise<boolean> {
  const entry = await ownEntry(kv, lease);
  // The revision makes one of two hosts win that write at the same time.
  if (entry) await kv.update(lease.name, JSON.stringify(lease), entry.revision);
  else await kv.create(lease.name, JSON.stringify(lease));
  return entry?.operation === 'PUT';
}

/** The leases as they come and end. */
export class LeaseWatch {
  readonly #kv: KV;
  readonly #deadlines = new Map<string, number>();
  readonly #events: { held(lease: Lease): void; ended(name: string): void };
  #stop: () => void = () => {};
  #heard = 0;

  constructor(kv: KV, events: { held(lease: Lease): void; ended(name: string): void }) {
    this.#kv = kv;
    this.#events = events;
  }

  async start(): Promise<void> {
    const entries = await this.#kv.watch();
    this.#stop = () => entries.stop();
    this.#heard = performance.now();
    void this.#read(entries);
  }

  /**
   * Ends leases that were not renewed in time. To be called after each renewal of this host's own.
   * @param isRenewed whether it succeeded: otherwise others cannot renew theirs either, and get as much time again afterwards
   */
  async check(isRenewed: boolean): Promise<void> {
    const now = performance.now();
    // The watch shows this host's own renewals, too. A server that died may have taken the watch along.
    const isDeaf = now - this.#heard > LEASE_MS / 2;
    if (isRenewed && isDeaf) {
      this.#stop();
      await this.start();
    }
    for (const [name, deadline] of this.#deadlines) {
      if (!isRenewed || isDeaf) this.#deadlines.set(name, now + LEASE_MS);
      else if (deadline < now) this.#end(name);
    }
  }

  async #read(entries: AsyncIterable<KvWatchEntry>): Promise<void> {
    for await (const entry of entries) {
      this.#heard = performance.now();
      const lease = entry.operation === 'PUT' ? parsed(entry) : undefined;
      if (lease) {
        this.#deadlines.set(lease.name, this.#heard + LEASE_MS);
        this.#events.held(lease);
      } else this.#end(entry.key);
    }
  }

  #end(name: string): void {
    if (this.#deadlines.delete(name)) this.#events.ended(name);
  }

  stop(): void {
    this.#stop();
  }
}
