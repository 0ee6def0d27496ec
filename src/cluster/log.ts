// The replicated log of the controller's database: each change is a message of one stream, stored with the number of the message before it,
// so that of two hosts that both take themselves for the controller only one can change anything. A large change has several messages.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  jetstream,
  jetstreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { headers, type NatsConnection, nuid } from '@nats-io/transport-node';
import { messageOf } from '../failures.ts';
import type { ChangeLog, Statement } from '../store/database.ts';
import { replicasFor } from './replicas.ts';
import { CHANGES, CHANGES_STREAM } from './subjects.ts';

/** How long (ms) a change waits until NATS has stored it. */
const STORED_MS = 4_000;
/** Time limit (ms) of each request for that: servers that change the leader of the stream drop some, which must be repeated. */
const ANSWER_MS = 1_000;
const AGAIN_MS = 200;
/** How long (ms) `begin` repeats its message. */
const BEGIN_MS = 20_000;
/** Of all messages. A copy of the database replaces them long before. */
const MOST_BYTES = 192 * 2 ** 20;
/** Bytes of a message. */
const PART_BYTES = 512 * 1024;
/** The answer of NATS to a message that does not follow the last one. */
const WRONG_SEQUENCE = 10_071;
/** The answer of NATS 2.11 and newer to a repeated message while it still stores the first one. */
const BEING_STORED = 10_158;
/** The answer of NATS to a message for which the log has no room. */
const FULL = /maximum bytes exceeded/;
/** Headers: the change that a message belongs to, and how many more of its messages follow. */
const CHANGE = 'Labwire-Change';
const FOLLOWING = 'Labwire-Following';

/** What a change consists of; without statements it only says who is the controller from now on. */
export interface Change {
  /** The version of the tables. */
  schema: number;
  statements: readonly Statement[];
}

/** The stream of changes, created if it is missing. A full one takes no more changes instead of losing the first. */
export async function changesStream(nats: NatsConnection): Promise<StreamInfo> {
  const { streams } = await jetstreamManager(nats);
  const config = {
    ...{ subjects: [CHANGES], max_bytes: MOST_BYTES, discard: DiscardPolicy.New },
    num_replicas: replicasFor(nats),
  };
  return streams.info(CHANGES_STREAM).catch(() => streams.add({ name: CHANGES_STREAM, ...config }));
}

/** Part of its space that the log takes, by the changes of all controllers. */
export async function logUse(nats: NatsConnection): Promise<number> {
  const { config, state } = await (await jetstreamManager(nats)).streams.info(CHANGES_STREAM);
  return state.bytes / config.max_bytes;
}

export class LogWriter implements ChangeLog {
  /** Whether NATS is reached. */
  isReached = true;
  /** Whether the log had no room for the last message. */
  isFull = false;
  readonly #jetstream: JetStreamClient;
  readonly #schema: number;
  readonly #lost: (reason: string) => void;
  #last: number;
  #refusal: string | undefined;

  /**
   * @param last number of the last message that this host has
   * @param lost called when another host has written, or may have, so that this one must read the log again
   */
  constructor(
    nats: NatsConnection,
    { schema, last, lost }: { schema: number; last: number; lost: (reason: string) => void },
  ) {
    this.#jetstream = jetstream(nats);
    this.#schema = schema;
    this.#last = last;
    this.#lost = lost;
  }

  /** From now on nothing is written. */
  refuse(reason: string): void {
    this.#refusal ??= reason;
  }

  /**
   * Proves that this host has the whole log, and keeps all others from writing. Repeats its message while `isHeld`, this host holds the key
   * of the controller, always as the same change.
   */
  async begin(isHeld: () => boolean): Promise<number> {
    const change = nuid.next();
    const end = performance.now() + BEGIN_MS;
    for (;;) {
      try {
        return await this.append([], { change, limit: ANSWER_MS });
      } catch (error) {
        if (this.#refusal !== undefined || this.isFull || performance.now() > end || !isHeld()) throw error;
      }
      await sleep(AGAIN_MS);
      if (!isHeld()) throw notKept('this host holds the key of the controller no more');
    }
  }

  fellBehind(reason: string): void {
    this.refuse(`This host is the controller no more: ${reason}`);
    this.#lost(reason);
  }

  /**
   * @param change names it; a new one unless given
   * @param limit how long (ms) it waits until NATS has stored it
   */
  async append(
    statements: readonly Statement[],
    { change = nuid.next(), limit = STORED_MS }: { change?: string; limit?: number } = {},
  ): Promise<number> {
    if (this.#refusal !== undefined) throw new Error(this.#refusal);
    const bytes = new TextEncoder().encode(JSON.stringify({ schema: this.#schema, statements } satisfies Change));
    const parts = Math.ceil(bytes.length / PART_BYTES);
    for (let part = 0; part < parts; part += 1) {
      const piece = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      await this.#store(piece, { change, limit, following: parts - part - 1 });
    }
    return this.#last;
  }

  /**
   * A message without an answer may be stored all the same: each repetition has the same id, which NATS stores once, and follows the same
   * last message. So an answer always means that no other message came before it.
   */
  async #store(
    bytes: Uint8Array,
    { change, following, limit }: { change: string; following: number; limit: number },
  ): Promise<void> {
    const labels = headers();
    labels.set(CHANGE, change);
    labels.set(FOLLOWING, String(following));
    const end = performance.now() + limit;
    for (let mayBeStored = false; ; ) {
      // A message that waits for a connection could be stored after its change was refused.
      if (!this.isReached) throw notKept('NATS is not reached', mayBeStored);
      try {
        const stored = await this.#jetstream.publish(CHANGES, bytes, {
          headers: labels,
          expect: { lastSequence: this.#last, streamName: CHANGES_STREAM },
          timeout: Math.min(ANSWER_MS, Math.max(1, end - performance.now())),
          msgID: `${change}-${following}`,
        });
        this.#last = stored.seq;
        this.isFull = false;
        return;
      } catch (error) {
        const code = error instanceof JetStreamApiError ? error.code : undefined;
        if (code === WRONG_SEQUENCE) {
          const reason = 'another host has changed the labs';
          this.fellBehind(reason);
          throw new Error(`This host is the controller no more: ${reason}. Try again.`);
        }
        this.isFull = code !== undefined && FULL.test(messageOf(error));
        const isUnknown = code === undefined || code === BEING_STORED;
        mayBeStored ||= isUnknown;
        if (!isUnknown || performance.now() + AGAIN_MS > end) throw notKept(messageOf(error), mayBeStored);
      }
      await sleep(AGAIN_MS);
      if (this.#refusal !== undefined) throw new Error(this.#refusal);
    }
  }
}

function notKept(reason: string, mayBeStored = false): Error {
  const said = mayBeStored
    ? `The cluster has not confirmed the change, which may still be made (${reason}). Labs run on; look whether it is made`
    : `The change is not made: the cluster cannot keep it (${reason}). Labs run on; try again`;
  return new Error(`${said} when most servers of NATS are reached.`);
}

export interface LogMessage {
  seq: number;
  headers?: { get(name: string): string } | undefined;
  data: Uint8Array;
}

/** Joins the messages of changes. */
export class ChangeReader {
  #change = '';
  #parts: Uint8Array[] = [];

  /** Returns the change that this message completes. One whose writer ended in the middle is dropped. */
  receive(message: Omit<LogMessage, 'seq'>): Change | undefined {
    const change = message.headers?.get(CHANGE) ?? '';
    if (change !== this.#change) this.#parts = [];
    this.#change = change;
    this.#parts.push(message.data.slice());
    if (message.headers?.get(FOLLOWING) !== '0') return undefined;
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    return JSON.parse(text) as Change;
  }
}
