// Connects the server with its cluster: lends the compute to the controller's host, and gives the controller the other hosts as computes.
import { NODE_KINDS } from '../api/kinds/kinds.ts';
import type { Config } from '../config/schema.ts';
import { answerJson } from '../controller/computes/answers.ts';
import type { Controller } from '../controller/controller.ts';
import { log } from '../host/log.ts';
import { version } from '../host/version.ts';
import type { App } from '../http/app/app.ts';
import { HttpServer } from '../http/app/server.ts';
import { loadCluster } from './load-cluster.ts';

/** Which guests KVM runs here. */
const ACCELERATION = NODE_KINDS.find(({ accelerationRoute }) => accelerationRoute !== undefined)!.accelerationRoute!;
/** For hosts that were not seen since the start: nothing is sent there. */
const UNKNOWN_ADDRESS = '0.0.0.0';

/** @param port on which this server listens */
export async function takePart({
  config,
  port,
  computeApp,
  controller: { computes },
}: {
  config: Config;
  port: number;
  computeApp: App;
  controller: Pick<Controller, 'computes'>;
}): Promise<{ stop(): Promise<void> }> {
  const { startCluster } = await loadCluster();
  const accept = await new HttpServer(computeApp, { host: '', port: 0 }).servePassed();
  /** What this host's compute answers, as it would a controller. */
  const ask = async <Answer>(place: string): Promise<Answer> => {
    const path = `/v2/compute${place}`;
    return (await answerJson(await computeApp.request(path), path)) as Answer;
  };
  const cluster = await startCluster({
    state: config.state,
    cluster: config.Cluster.name,
    log,
    accept,
    describe: async () => {
      const [{ node_types: kinds }, { memory_free: memory, processors }, { kvm }] = await Promise.all([
        ask<{ node_types: string[] }>('/capabilities'),
        ask<{ memory_free: number; processors: number }>('/statistics?processors=yes'),
        ask<{ kvm: string[] }>(ACCELERATION),
      ]);
      return {
        ...{ version: version(), port, free_memory_bytes: memory, cores: processors },
        ...{ kvm: kvm.length > 0, node_types: kinds },
      };
    },
    held: (member) => void computes.admitMember(member, () => cluster.dial(member.name)),
    ended: () => {},
  });
  for (const { id, name } of cluster.known) {
    await computes.admitMember({ id, name, address: UNKNOWN_ADDRESS, port: 0 }, () => cluster.dial(name));
  }
  return cluster;
}
