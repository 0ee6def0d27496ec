// Who is the controller: the host that holds one key, which NATS removes some seconds after its last renewal. A holder counts that time by its
// own clock from before each renewal, and less of it, so that it knows that it holds the key no more before another host can.
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import * as v from 'valibot';
import { ignore } from '../failures.ts';
import { KeyedLock } from '../host/values/keyed-lock.ts';
import type { NamedHost } from './hosts.ts';
import { replicasFor } from './replicas.ts';
import { CONTROLLER_BUCKET, CONTROLLER_KEY } from './subjects.ts';

/** How long (ms) the key is there after its last renewal. */
const KEY_MS = 5_000;
/** How long (ms) its holder relies on that. */
const HELD_MS = 4_000;
const ROUND_MS = 700;
/** How long (ms) after an interruption a host leaves the key to the one that held it before. */
const HEADSTART_MS = 3_000;
/** Time limit (ms) of a question about the key, and of a renewal. */
const ANSWER_MS = 2_000;
/** When (ms) a question without an answer is repeated: NATS servers that elect their leader drop some. */
const REPEATED_MS = [0, 400, 800, 1_200, 1_600];

const Holder = v.object({ id: v.string(), name: v.string(), run: v.string() });
export type Holder = v.InferOutput<typeof Holder>;

export interface ElectionEvents {
  /** Whether this host could be the controller now. */
  isReady(): boolean;
  /** This host holds the key. */
  won(): void;
  /** Another host holds the key that this one held. */
  lost(holder: NamedHost): void;
}

/** The bucket of the key. Of several NATS servers only the leader is asked: another one may still have the holder before this one. */
async function bucketOf(nats: NatsConnection): Promise<KV> {
  const asked = { allow_direct: false };
  const settings = { ...asked, ttl: KEY_MS, history: 1, replicas: replicasFor(nats) };
  await new Kvm(jetstream(nats)).create(CONTROLLER_BUCKET, settings);
  return new Kvm(jetstream(nats, { timeout: ANSWER_MS, checkAPI: false })).open(CONTROLLER_BUCKET, asked);
}

function holderOf(entry: KvEntry | null): Holder | undefined {
  if (entry?.operation !== 'PUT') return undefined;
  const parsed = v.safeParse(Holder, JSON.parse(entry.string()));
  return parsed.success ? parsed.output : undefined;
}

/** The first answer of several attempts. */
async function repeated<T>(ask: () => Promise<T>): Promise<T> {
  const answered = new AbortController();
  const asked = REPEATED_MS.map(async (delay) => {
    await sleep(delay, undefined, { signal: answered.signal });
    return ask();
  });
  try {
    return await Promise.any(asked);
  } finally {
    answered.abort();
  }
}

export class Election {
  readonly #own: Holder;
  readonly #events: ElectionEvents;
  #heldUntil = 0;
  #holds = false;
  #holder: NamedHost | undefined;
  #candidateFrom = 0;
  #bucket: KV | undefined;
  readonly #lock = new KeyedLock();

  constructor(own: Holder, events: ElectionEvents) {
    this.#own = own;
    this.#events = events;
  }

  /** Who holds the key, as far as this host knows. */
  get holder(): NamedHost | undefined {
    return this.#holder;
  }

  /** Whether this host holds the key for certain. */
  get isCertain(): boolean {
    return this.#holds && performance.now() < this.#heldUntil;
  }

  /** NATS is reached again, perhaps by all hosts at once, after the key has expired. */
  reconnected(): void {
    this.#candidateFrom = performance.now() + HEADSTART_MS;
  }

  /** Takes part until the connection ends or `signal` is aborted. The key is kept over a lost connection. */
  async run(nats: NatsConnection, signal: AbortSignal): Promise<void> {
    const bucket = await bucketOf(nats);
    this.#bucket = bucket;
    const closed = nats.closed();
    while (!signal.aborted && !nats.isClosed()) {
      await this.#lock.run('key', () => this.#round(bucket)).catch(ignore);
      await Promise.race([closed, sleep(ROUND_MS, undefined, { signal }).catch(ignore)]);
    }
  }

  async #round(bucket: KV): Promise<void> {
    const begin = performance.now();
    const entry = await repeated(() => bucket.get(CONTROLLER_KEY));
    const holder = holderOf(entry);
    this.#holder = holder;
    if (holder && holder.id !== this.#own.id) return this.#lose(holder);
    if (!this.#holds && (begin < this.#candidateFrom || !this.#events.isReady())) return;
    const value = JSON.stringify(this.#own);
    // The revision makes one of two hosts win that write at the same time.
    if (entry && holder) await bucket.update(CONTROLLER_KEY, value, entry.revision);
    else await bucket.create(CONTROLLER_KEY, value);
    this.#holder = this.#own;
    this.#heldUntil = begin + HELD_MS;
    if (this.#holds) return;
    this.#holds = true;
    this.#events.won();
  }

  #lose(holder: Holder): void {
    if (!this.#holds) return;
    this.#holds = false;
    this.#events.lost(holder);
  }

  /** Gives the key to a host, or without one to whichever takes it first. Without it nothing happens. */
  give(to: Holder | undefined): Promise<void> {
    return this.#lock.run('key', async () => {
      const bucket = this.#bucket;
      if (!bucket || !this.#holds) return;
      this.#holds = false;
      this.#candidateFrom = performance.now() + KEY_MS;
      const entry = await bucket.get(CONTROLLER_KEY);
      if (!entry || holderOf(entry)?.id !== this.#own.id) return;
      if (to) await bucket.update(CONTROLLER_KEY, JSON.stringify(to), entry.revision);
      else await bucket.delete(CONTROLLER_KEY, { previousSeq: entry.revision });
    });
  }

  /** Lets another host have the key, or this one again when it is ready. */
  release(): void {
    this.#holds = false;
  }
}
