// Objects that NATS keeps for the cluster: the last copy of the database, and files of labs by their content.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { unavailable } from '../failures.ts';
import { answered } from './answered.ts';
import { replicasFor } from './replicas.ts';
import { OBJECTS, OBJECTS_STREAM } from './subjects.ts';

/** Of files and copies of the database together. The log has the rest of what NATS may store. */
const MOST_OBJECT_BYTES = 640 * 2 ** 20;
/** Time limit (ms) for fetching a copy of the database, or the list of objects. */
const FETCHED_MS = 20_000;
const BUCKET = `$O.${OBJECTS}.`;
/** Subjects of the descriptions of objects, and of their parts. */
const [METAS, PARTS] = [`${BUCKET}M.`, `${BUCKET}C.`];

/** Makes the bucket unless there is one. */
export async function createObjects(nats: NatsConnection): Promise<void> {
  const settings = { max_bytes: MOST_OBJECT_BYTES, replicas: replicasFor(nats) };
  await new Objm(jetstream(nats)).create(OBJECTS, settings);
}

/** The bucket; NATS is not asked for it. */
export async function objectsOf(nats: NatsConnection): Promise<Objects> {
  return new Objects(nats, await new Objm(jetstream(nats, { checkAPI: false })).open(OBJECTS, false));
}

/** What is in the bucket at a moment. */
interface Stored {
  /** Number of the last message. */
  last: number;
  subjects: readonly string[];
  /** Objects that are whole. */
  whole: ReadonlyMap<string, ObjectInfo>;
}

export class Objects {
  readonly #nats: NatsConnection;
  readonly #store: ObjectStore;

  constructor(nats: NatsConnection, store: ObjectStore) {
    this.#nats = nats;
    this.#store = store;
  }

  async has(name: string): Promise<boolean> {
    const info = await this.#store.info(name);
    return info !== null && !info.deleted;
  }

  async put(name: string, content: Uint8Array, metadata: Record<string, string> = {}): Promise<void> {
    await this.#store.putBlob({ name, metadata }, content);
  }

  /** Leaves nothing, unlike `delete` of the library, whose marks of removed objects would fill the bucket in time. */
  async remove(name: string): Promise<void> {
    const info = await this.#store.info(name);
    if (!info) return;
    await this.#purge(metaOf(name), info.revision);
    await this.#purge(`${PARTS}${info.nuid}`);
  }

  async stored(): Promise<Stored> {
    const { streams } = await this.#manager();
    const { state } = await streams.info(OBJECTS_STREAM, { subjects_filter: `${BUCKET}>` });
    // After the subjects: an object that was being stored is whole then, or still not.
    const limit = sleep(FETCHED_MS, undefined, { ref: false }).then(() => {
      throw unavailable('NATS does not list its objects.');
    });
    const list = await Promise.race([this.#store.list(), limit]);
    const whole = new Map(list.map((info) => [info.name, info]));
    return { last: state.last_seq, subjects: Object.keys(state.subjects ?? {}), whole };
  }

  /**
   * Removes of what is stored the objects that are not wanted, the marks of removed ones, and parts of objects that are not whole.
   * @param former parts of no whole object that the last call has found
   * @returns those of now: they may be of an object that is being stored
   */
  async removeRest(
    { last, subjects, whole }: Stored,
    { isWanted, former }: { isWanted: (name: string) => boolean; former: ReadonlySet<string> },
  ): Promise<Set<string>> {
    const left = new Set<string>();
    const used = new Set([...whole.values()].map(({ nuid }) => `${PARTS}${nuid}`));
    for (const subject of subjects) {
      if (subject.startsWith(METAS)) {
        const name = Buffer.from(subject.slice(METAS.length), 'base64url').toString();
        if (whole.has(name) && isWanted(name)) continue;
        // Not a newer object of the name, which another controller may have stored.
        await this.#purge(subject, last);
        const parts = `${PARTS}${whole.get(name)?.nuid}`;
        if (used.has(parts)) await this.#purge(parts);
      } else if (!used.has(subject)) {
        if (former.has(subject)) await this.#purge(subject);
        else left.add(subject);
      }
    }
    return left;
  }

  #manager() {
    return jetstreamManager(this.#nats, { checkAPI: false });
  }

  /** @param last number of the last message that is removed */
  async #purge(filter: string, last?: number): Promise<void> {
    const { streams } = await this.#manager();
    await streams.purge(OBJECTS_STREAM, last === undefined ? { filter } : { filter, seq: last + 1 });
  }
}

/**
 * Reads piece by piece from the leader of the stream: the consumer of the library needs the leader of all of NATS, too, which may have died
 * with the controller.
 * @param limit time (ms)
 * @returns undefined if there is no such object
 * @throws Failure `unavailable` if it was replaced meanwhile; Error if NATS does not answer in time
 */
export async function fetchObject(
  nats: NatsConnection,
  name: string,
  limit = FETCHED_MS,
): Promise<Uint8Array | undefined> {
  const end = performance.now() + limit;
  const isWanted = (): boolean => performance.now() < end;
  const info = await answered(isWanted, async (timeout) => {
    const objects = await new Objm(jetstream(nats, { timeout, checkAPI: false })).open(OBJECTS, false);
    return objects.info(name);
  });
  if (!info || info.deleted) return undefined;
  const hash = createHash('sha256');
  const pieces: Uint8Array[] = [];
  let seq = 1;
  while (pieces.length < info.chunks) {
    const query = { next_by_subj: `${PARTS}${info.nuid}`, seq };
    const message = await answered(isWanted, async (timeout) => {
      const { streams } = await jetstreamManager(nats, { timeout, checkAPI: false });
      return streams.getMessage(OBJECTS_STREAM, query);
    });
    if (!message) throw unavailable(`The object ${name} was replaced while it was read.`);
    hash.update(message.data);
    pieces.push(message.data);
    seq = message.seq + 1;
  }
  if (info.digest !== `SHA-256=${padded(hash.digest('base64url'))}`)
    throw unavailable(`NATS has sent the object ${name} with errors.`);
  return Buffer.concat(pieces);
}

/** The subject of the description of an object. */
const metaOf = (name: string): string => `${METAS}${padded(Buffer.from(name).toString('base64url'))}`;

/** Base64 as NATS writes it. */
const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, '=');
