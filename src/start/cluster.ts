// Connects the server with its cluster: lends the compute to the controller's host, and gives the controller the other hosts as computes.
import { NODE_KINDS } from '../api/kinds/kinds.ts';
import type { Compute } from '../compute/compute.ts';
import type { Config } from '../config/schema.ts';
import { answerJson } from '../controller/computes/answers.ts';
import type { Controller } from '../controller/controller.ts';
import { ignore } from '../failures.ts';
import { log } from '../host/log.ts';
import { version } from '../host/version.ts';
import type { App } from '../http/app/app.ts';
import { HttpServer } from '../http/app/server.ts';
import { loadCluster } from './load-cluster.ts';

/** Routes that say which guests KVM runs here. */
const ACCELERATION = NODE_KINDS.flatMap(({ accelerationRoute: place }) => place ?? []);
/** For hosts that were not seen since the start: nothing is sent there. */
const UNKNOWN_ADDRESS = '0.0.0.0';

/** @param port on which this server listens */
export async function takePart({
  config,
  port,
  computeApp,
  controller,
  compute,
}: {
  config: Config;
  port: number;
  computeApp: App;
  controller: Pick<Controller, 'computes' | 'replaceHost'>;
  compute: Pick<Compute, 'relayFrames'>;
}): Promise<{ stop(): Promise<void> }> {
  const { computes } = controller;
  const { startCluster } = await loadCluster();
  const accept = await new HttpServer(computeApp, { host: '', port: 0 }).servePassed();
  /** What this host's compute answers, as it would a controller. */
  const ask = async <Answer>(place: string): Promise<Answer> => {
    const path = `/v2/compute${place}`;
    return (await answerJson(await computeApp.request(path), path)) as Answer;
  };
  // The first question may run a guest, for up to 4 s where KVM is broken: the cluster does not wait for it.
  let kvm = false;
  for (const place of ACCELERATION) {
    ask<{ kvm: string[] }>(place).then((answer) => {
      kvm ||= answer.kvm.length > 0;
    }, ignore);
  }
  const cluster = await startCluster({
    state: config.state,
    cluster: config.Cluster.name,
    log,
    accept,
    describe: async () => {
      const [{ node_types: kinds }, { memory_free: memory, processors }] = await Promise.all([
        ask<{ node_types: string[] }>('/capabilities'),
        ask<{ memory_free: number; processors: number }>('/statistics?processors=yes'),
      ]);
      return {
        ...{ version: version(), port, free_memory_bytes: memory, cores: processors },
        ...{ kvm, node_types: kinds },
      };
    },
    held: ({ isThisHost, ...member }) => {
      if (isThisHost) computes.placeLocal(member);
      else void computes.admitMember(member, () => cluster.dial(member.name));
    },
    failoverMs: config.Cluster.failover_seconds * 1_000,
    absent: ({ id }) => void controller.replaceHost(id),
    forgotten: ({ id }) => void computes.forgetMember(id),
  });
  for (const { id, name } of cluster.known) {
    const place = { name, address: UNKNOWN_ADDRESS, outsideAddress: UNKNOWN_ADDRESS };
    await computes.admitMember({ ...place, id, port: 0 }, () => cluster.dial(name));
  }
  compute.relayFrames(cluster.relay);
  return cluster;
}
