// How many NATS servers keep each stream of JetStream.
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** Bears the loss of one. */
const REPLICAS = 3;
/** Bears the loss of two, where the cluster has its own five servers. */
const MOST_REPLICAS = 5;

/** For a new stream. With several servers not raised to this later: one that was raised at once has been seen without a leader for ever. */
export const replicasFor = ({ info }: NatsConnection): number =>
  (info?.connect_urls?.length ?? 1) < REPLICAS ? 1 : REPLICAS;

/** Of Labwire; an existing NATS may have others. */
const OWN = /^(?:KV_|OBJ_)?labwire/i;

/** Raises all streams of Labwire, those of buckets included, to as many copies as the servers that were found can bear the loss of. */
export async function raiseReplicas(nats: NatsConnection, { found }: { found: number }): Promise<void> {
  if (found < REPLICAS) return;
  const wanted = found < MOST_REPLICAS ? REPLICAS : MOST_REPLICAS;
  const manager = await jetstreamManager(nats);
  for await (const { config, cluster } of manager.streams.list()) {
    const isWhole = cluster?.replicas?.every(({ current }) => current) ?? true;
    if (OWN.test(config.name) && config.num_replicas < wanted && isWhole)
      await manager.streams.update(config.name, { num_replicas: wanted });
  }
}
