// One audit trail for the cluster: the controller's lines are messages of a stream in NATS, and each host that may be the controller adds
// those of the others to its own file.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import * as v from 'valibot';
import type { AuditLine } from '../api/objects.ts';
import { ignore, messageOf } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';
import type { ClusterLog } from './cluster-log.ts';
import { replicasFor } from './replicas.ts';
import { AUDIT, AUDIT_STREAM } from './subjects.ts';

/** As many as a host's own files have. */
const MOST_BYTES = 16 * 2 ** 20;
/** Lines that wait for NATS; more stay in the file of this host alone. */
const MOST_WAITING = 10_000;
const STORED_MS = 4_000;
const AGAIN_MS = 1_000;
/** After so many lines, or the last one, the place in the stream is kept. */
const KEPT_EVERY = 100;
/** Header: the id of the host that wrote a line. */
const HOST = 'Labwire-Host';

const Line = v.looseObject({
  ...{ time: v.string(), account: v.string(), address: v.string(), action: v.string() },
  ...{ objects: v.record(v.string(), v.string()), status: v.number() },
});

export interface OwnTrail {
  /** Adds a line of another host. */
  add(line: AuditLine): void;
  /** Resolves when added lines are in the file. */
  settled(): Promise<void>;
}

export interface AuditTrailParts {
  /** Keeps the place in the stream. */
  path: string;
  hostId: string;
  log: ClusterLog;
  own: OwnTrail;
}

export class AuditTrail {
  readonly #parts: AuditTrailParts;
  readonly #waiting: { id: string; text: string }[] = [];
  #nats: NatsConnection | undefined;
  #sending: Promise<void> | undefined;
  #messages: ConsumerMessages | undefined;
  #reason = '';

  constructor(parts: AuditTrailParts) {
    this.#parts = parts;
  }

  /** A line that this host has noted as the controller; it is kept until NATS has it. */
  send(line: object): void {
    if (this.#waiting.length >= MOST_WAITING)
      this.#report('too many lines wait for NATS: they stay on this host alone');
    else this.#waiting.push({ id: randomUUID(), text: JSON.stringify(line) });
    this.#sendAll();
  }

  /** Sends and follows until the connection ends, and again after each failure. Never rejects. */
  async run(nats: NatsConnection, signal: AbortSignal): Promise<void> {
    this.#nats = nats;
    const stop = (): void => this.#messages?.stop();
    signal.addEventListener('abort', stop);
    void nats.closed().then(stop);
    // A consumer notices only after half a minute that it was forgotten.
    void stopAtReconnections(nats, stop);
    while (!nats.isClosed() && !signal.aborted) {
      try {
        await this.#follow(nats, signal);
      } catch (error) {
        if (!nats.isClosed() && !signal.aborted) this.#report(messageOf(error));
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(ignore);
    }
    signal.removeEventListener('abort', stop);
  }

  #report(reason: string): void {
    if (reason !== this.#reason)
      this.#parts.log.warn('the audit trail of the cluster is not complete here', { reason });
    this.#reason = reason;
  }

  /** Resolves when NATS has all lines, or does not take them in time. */
  async flush(): Promise<void> {
    this.#sendAll();
    await Promise.race([this.#sending, sleep(STORED_MS, undefined, { ref: false })]);
  }

  #sendAll(): void {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async #send(): Promise<void> {
    for (let line = this.#waiting[0]; line && this.#nats && !this.#nats.isClosed(); line = this.#waiting[0]) {
      const labels = headers();
      labels.set(HOST, this.#parts.hostId);
      try {
        // The id keeps a line single whose answer was lost.
        await jetstream(this.#nats).publish(AUDIT, line.text, { headers: labels, msgID: line.id, timeout: STORED_MS });
        this.#waiting.shift();
      } catch {
        await sleep(AGAIN_MS);
      }
    }
  }

  async #follow(nats: NatsConnection, signal: AbortSignal): Promise<void> {
    const manager = await jetstreamManager(nats);
    const wanted = { subjects: [AUDIT], max_bytes: MOST_BYTES, discard: DiscardPolicy.Old };
    const { state } = await manager.streams
      .info(AUDIT_STREAM)
      .catch(() => manager.streams.add({ name: AUDIT_STREAM, ...wanted, num_replicas: replicasFor(nats) }));
    this.#sendAll();
    await mkdir(dirname(this.#parts.path), { recursive: true, mode: 0o700 });
    const kept = Number(await readFile(this.#parts.path, 'utf8').catch(() => '')) || 0;
    // NATS may have lost its storage.
    const position = kept > state.last_seq ? 0 : kept;
    const consumer = await jetstream(nats).consumers.get(AUDIT_STREAM, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: position + 1,
    });
    const messages = await consumer.consume();
    this.#messages = messages;
    if (signal.aborted || nats.isClosed()) messages.stop();
    this.#reason = '';
    let added = 0;
    for await (const message of messages) {
      if (this.#add(message)) added += 1;
      if (message.info.pending > 0 && added < KEPT_EVERY) continue;
      added = 0;
      await this.#parts.own.settled();
      await writeFileAtomically(this.#parts.path, String(message.seq));
    }
  }

  /** Returns whether it was a line of another host. */
  #add(message: JsMsg): boolean {
    if (message.headers?.get(HOST) === this.#parts.hostId) return false;
    try {
      this.#parts.own.add(v.parse(Line, message.json()) as unknown as AuditLine);
      return true;
    } catch {
      return false;
    }
  }
}

async function stopAtReconnections(nats: NatsConnection, stop: () => void): Promise<void> {
  for await (const { type } of nats.status()) if (type === 'reconnect') stop();
}
