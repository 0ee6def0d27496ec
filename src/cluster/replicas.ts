// How many NATS servers keep each stream of JetStream.
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** Bears the loss of one; five servers bear the loss of two, but not every stream is worth five writes. */
const REPLICAS = 3;

/** For a new stream. With several servers not raised later: one that was raised at once has been seen without a leader for ever. */
export const replicasFor = ({ info }: NatsConnection): number =>
  (info?.connect_urls?.length ?? 1) < REPLICAS ? 1 : REPLICAS;

/** Of Labwire; an existing NATS may have others. */
const OWN = /^(?:KV_|OBJ_)?labwire/i;

/** Raises all streams of Labwire, those of buckets included, to three replicas when there are so many servers. */
export async function raiseReplicas(nats: NatsConnection, { found }: { found: number }): Promise<void> {
  if (found < REPLICAS) return;
  const manager = await jetstreamManager(nats);
  for await (const { config } of manager.streams.list()) {
    if (OWN.test(config.name) && config.num_replicas < REPLICAS)
      await manager.streams.update(config.name, { num_replicas: REPLICAS });
  }
}
