// Hosts of a cluster with a relay each, over a real NATS on this host.
import type { NatsConnection } from '@nats-io/transport-node';
import { connectMember } from '../../src/cluster/connection.ts';
import { ClusterFiles, type Membership } from '../../src/cluster/layout.ts';
import { newUser } from '../../src/cluster/nats-users.ts';
import { admit, beginCluster, newJoinLine } from '../../src/cluster/registry.ts';
import { FrameRelay } from '../../src/cluster/relay.ts';
import { parseJoinLine } from '../../src/cluster/token.ts';
import type { Cleanup } from '../cleanup.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** A cluster whose NATS does not run yet: the controller `a`, and `b` and `c` with users of their own. */
export async function threeMembers(t: Cleanup): Promise<{ files: ClusterFiles; members: Membership[] }> {
  const state = await scratchDirectory(t);
  const files = new ClusterFiles(state);
  const server = `127.0.0.1:${await freeTcpPort()}`;
  await beginCluster(files, { cluster: 'lab', host: 'a', server, id: crypto.randomUUID() });
  const controller = await files.member();
  const members: Membership[] = [controller];
  for (const host of ['b', 'c']) {
    const { seed, user } = newUser();
    const id = crypto.randomUUID();
    const { secret } = parseJoinLine(await newJoinLine(files, controller));
    const { claim } = await admit(files, controller, { name: host, id, user, cluster: 'lab', secret });
    members.push({ ...controller, host, id, controller: false, seed, claim });
  }
  return { files, members };
}

/** The relay of a host, as its server has it. */
export async function relayOf(
  files: ClusterFiles,
  member: Membership,
): Promise<{ relay: FrameRelay; nats: NatsConnection }> {
  const nats = await connectMember(files, member);
  const relay = new FrameRelay(member.host, !member.controller);
  relay.carrier = nats;
  relay.hear(nats);
  await nats.flush();
  return { relay, nats };
}
