// Connects the server with its cluster: lends the compute to the controller's host, and gives the controller the other hosts as computes.
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { NODE_KINDS } from '../api/kinds/kinds.ts';
import type { Config } from '../config/schema.ts';
import { answerJson } from '../controller/computes/answers.ts';
import type { Controller } from '../controller/controller.ts';
import { ignore } from '../failures.ts';
import { log } from '../host/log.ts';
import { version } from '../host/version.ts';
import { TrustedProxies } from '../http/access/proxies.ts';
import type { App } from '../http/app/app.ts';
import { Passing } from '../http/app/passing.ts';
import { HttpServer } from '../http/app/server.ts';
import type { HostAssembly } from './assembly.ts';
import { openRules } from './gate-setup.ts';
import { loadCluster } from './load-cluster.ts';

type Clustering = Awaited<ReturnType<typeof loadCluster>>;
export type Cluster = Awaited<ReturnType<Clustering['startCluster']>>;
type Successor = NonNullable<Parameters<Clustering['startCluster']>[0]['successor']>;
export type NamedHost = Cluster['known'][number];

/** Routes that say which guests KVM runs here. */
const ACCELERATION = NODE_KINDS.flatMap(({ accelerationRoute: place }) => place ?? []);
/** For hosts that were not seen since the start: nothing is sent there. */
const UNKNOWN_ADDRESS = '0.0.0.0';

/** Whether this host takes turns with others of its cluster at being the controller. */
export async function takesTurns({ state }: Config): Promise<boolean> {
  return (await loadCluster()).takesTurns(state);
}

/** What each host answers for itself: its compute, and its figures. */
const OWN = /^\/v2\/compute(?:\/|$)|^\/metrics$/;

/** What a host that is not the controller does with its clients' requests. */
export async function passingOf(config: Config): Promise<Passing> {
  const { isFixedController } = await loadCluster();
  const proxies = new TrustedProxies(config.Server.trusted_proxies);
  const isController = await isFixedController(config.state);
  return new Passing({ isController, own: OWN, rules: openRules(config), proxies });
}

/** Takes part with a controller that stays on its host. */
export async function takePart(
  host: HostAssembly,
  passing: Passing,
  { controller, address, app }: { controller: Controller; address: AddressInfo; app: App },
): Promise<{ stop(): Promise<void> }> {
  const cluster = await join(host, { port: address.port, passing, app: () => app, controller: () => controller });
  controller.cluster = cluster;
  await admit(cluster.known, cluster, controller);
  return cluster;
}

/** Makes hosts that hold no lease yet computes: labs have nodes there. */
export async function admit(
  hosts: readonly NamedHost[],
  cluster: Pick<Cluster, 'dial'>,
  { computes }: Controller,
): Promise<void> {
  for (const { id, name } of hosts) {
    const place = { name, address: UNKNOWN_ADDRESS, outsideAddress: UNKNOWN_ADDRESS };
    await computes.admitMember({ ...place, id, port: 0 }, () => cluster.dial(name));
  }
}

export async function join(
  { config, compute, computeApp }: HostAssembly,
  {
    port,
    passing,
    app,
    controller,
    successor,
    noted,
    forgotten,
  }: {
    /** On which this server listens. */
    port: number;
    passing: Passing;
    /** Answers clients that other hosts pass on. */
    app: () => App;
    /** The one of this host, if it is there now. */
    controller: () => Controller | undefined;
    successor?: Successor;
    noted?: (host: NamedHost & { outsideLimitMs: number | undefined }) => Promise<unknown>;
    forgotten?: (host: NamedHost) => Promise<unknown>;
  },
): Promise<Cluster> {
  const { startCluster } = await loadCluster();
  const outside = compute.outsideAccess;
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
    roots: [config.Server.projects_path, config.Server.symbols_path, config.Server.configs_path],
    log,
    accept,
    acceptClient: clientsOf(app),
    describe: async () => {
      const [{ node_types: kinds }, { memory_free: memory, processors }] = await Promise.all([
        ask<{ node_types: string[] }>('/capabilities'),
        ask<{ memory_free: number; processors: number }>('/statistics?processors=yes'),
      ]);
      return {
        ...{ version: version(), port, free_memory_bytes: memory, cores: processors },
        ...{ kvm, node_types: kinds, running_nodes: compute.runningNodes },
        ...(outside.limitMs !== undefined && { outside_closes_after_seconds: outside.limitMs / 1_000 }),
        ...(!outside.isOpen && { outside_closed: true }),
      };
    },
    renewed: (since, isContinued) => outside.renewed(since, isContinued),
    held: (lease) => {
      const { id, name, outsideLimitMs } = lease;
      noted?.({ id, name, outsideLimitMs }).catch(ignore); // again at its next renewal
      controller()?.held(lease, () => cluster.dial(name));
    },
    failoverMs: config.Cluster.failover_seconds * 1_000,
    absent: ({ id }) => void controller()?.replaceHost(id),
    forgotten: (host) => {
      forgotten?.(host).catch(ignore);
      void controller()?.computes.forgetMember(host.id);
    },
    isDraining: (name) =>
      controller()
        ?.computes.list()
        .some(({ draining, place }) => draining && place?.name === name) === true,
    successor,
  });
  compute.relayFrames(cluster.relay);
  passing.begin(
    () => cluster.isController,
    () => cluster.dialController(),
  );
  return cluster;
}

/** Serves clients that other hosts pass on. */
function clientsOf(app: () => App): (stream: Duplex, host: string) => void {
  const servers = new WeakMap<App, ReturnType<HttpServer['servePassed']>>();
  return (stream, host) => {
    const current = app();
    const serve = servers.get(current) ?? new HttpServer(current, { host: '', port: 0 }).servePassed();
    servers.set(current, serve);
    void serve.then((accept) => accept(stream, host));
  };
}
