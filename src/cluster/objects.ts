// Objects that NATS keeps for the cluster: the last copy of the database, and files of labs by their content.
import { createHash } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type ObjectStore, Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { unavailable } from '../failures.ts';
import { answered } from './answered.ts';
import { replicasFor } from './replicas.ts';
import { OBJECTS, OBJECTS_STREAM } from './subjects.ts';

/** Of files and copies of the database together. The log has the rest of what NATS may store. */
const MOST_OBJECT_BYTES = 640 * 2 ** 20;
/** Time limit (ms) for fetching a copy of the database. */
const FETCHED_MS = 20_000;

/** Makes the bucket unless there is one. */
export async function createObjects(nats: NatsConnection): Promise<void> {
  const settings = { max_bytes: MOST_OBJECT_BYTES, replicas: replicasFor(nats) };
  await new Objm(jetstream(nats)).create(OBJECTS, settings);
}

/** The bucket; NATS is not asked for it. */
export function objectsOf(nats: NatsConnection): Promise<ObjectStore> {
  return new Objm(jetstream(nats, { checkAPI: false })).open(OBJECTS, false);
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
    const query = { next_by_subj: `$O.${OBJECTS}.C.${info.nuid}`, seq };
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

/** Base64 as NATS writes it. */
const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, '=');
