// Where the leaders of the cluster's streams are: not at the NATS on the controller's host. When both die, the others need no election, which
// takes NATS 4 to 9 s for each stream, and another host has the key when it ends.
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKET_STREAM, CHANGES_STREAM, CONTROLLER_STREAM, OBJECTS_STREAM } from './subjects.ts';

/** Time limit (ms) of each request. */
const ANSWER_MS = 2_000;

/** Other servers with the whole stream, without which it stays where it is: the copies of three. */
const OTHERS = 2;

/**
 * Lets other servers lead the streams that this one leads.
 * @param own the name of the NATS on this host
 */
export async function moveLeaders(nats: NatsConnection, own: string): Promise<void> {
  const { streams } = await jetstreamManager(nats, { timeout: ANSWER_MS, checkAPI: false });
  for (const name of [CONTROLLER_STREAM, CHANGES_STREAM, BUCKET_STREAM, OBJECTS_STREAM]) {
    const { cluster } = await streams.info(name);
    const able = cluster?.replicas?.filter(({ current }) => current) ?? [];
    if (cluster?.leader !== own || able.length < OTHERS) continue;
    await nats.request(`$JS.API.STREAM.LEADER.STEPDOWN.${name}`, '', { timeout: ANSWER_MS });
  }
}
