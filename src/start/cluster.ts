// Connects the server with its cluster: lends the compute to the controller's host, and gives the controller the other hosts as computes.
import type { AddressInfo } from 'node:net';
import { NODE_KINDS } from '../api/kinds/kinds.ts';
import type { Config } from '../config/schema.ts';
import { answerJson } from '../controller/computes/answers.ts';
import type { Controller } from '../controller/controller.ts';
import { ignore } from '../failures.ts';
import { log } from '../host/log.ts';
import { version } from '../host/version.ts';
import { HttpServer } from '../http/app/server.ts';
import { Database } from '../store/database.ts';
import { becomeLocal } from '../store/host-change.ts';
import { MIGRATIONS } from '../store/migrations.ts';
import type { Store } from '../store/store.ts';
import { assembleStandby, type HostAssembly, type Turns } from './assembly.ts';
import { type Control, type ControlParts, newServer, startControl } from './control.ts';
import { loadCluster } from './load-cluster.ts';

type Clustering = Awaited<ReturnType<typeof loadCluster>>;
type Cluster = Awaited<ReturnType<Clustering['startCluster']>>;
type Successor = NonNullable<Parameters<Clustering['startCluster']>[0]['successor']>;
type NamedHost = Cluster['known'][number];

/** Routes that say which guests KVM runs here. */
const ACCELERATION = NODE_KINDS.flatMap(({ accelerationRoute: place }) => place ?? []);
/** For hosts that were not seen since the start: nothing is sent there. */
const UNKNOWN_ADDRESS = '0.0.0.0';

/** Whether this host takes turns with others of its cluster at being the controller. */
export async function takesTurns({ state }: Config): Promise<boolean> {
  return (await loadCluster()).takesTurns(state);
}

/** Takes part with a controller that stays on its host. */
export async function takePart(
  host: HostAssembly,
  { controller, address }: { controller: Controller; address: AddressInfo },
): Promise<{ stop(): Promise<void> }> {
  const cluster = await join(host, { port: address.port, controller: () => controller });
  await admit(cluster.known, cluster, controller);
  return cluster;
}

/** Takes part as one of the hosts that take turns at being the controller; begins without it. */
export async function startTurns(parts: ControlParts): Promise<Omit<Control, 'controller'>> {
  const { host, store, keepsNodes } = parts;
  const { config } = host;
  let control: Control | undefined;
  let isStopped = false;
  const turns: Turns = {
    obstacle: () => {
      if (cluster.isCertain) return undefined;
      const name = cluster.controller?.name;
      return control || name === undefined
        ? 'The cluster has no controller that could keep changes now. Labs run on; try again when most servers of NATS are reached.'
        : `The controller of the cluster is the host ${name}: use its port 3080.`;
    },
  };
  const app = assembleStandby(host, { store, turns });
  const standBy = async (port: number): Promise<{ server: HttpServer; address: AddressInfo }> => {
    const server = await newServer(config, app, port);
    return { server, address: await server.start() };
  };
  await parts.beforeListening();
  let { server, address } = await standBy(parts.port);
  const { port } = address;
  const lead = async (database: Database, own: NamedHost): Promise<void> => {
    await becomeLocal(database, own.id);
    const labs = store.withDatabase(database);
    await labs.documents.put('cluster-hosts', own.id, { name: own.name });
    control = await startControl({
      ...parts,
      ...{ port, turns, store: labs, keepsNodes: () => !isStopped || keepsNodes() },
      // Until now the server says that the controller starts.
      beforeListening: () => server.stop(),
      joined: async ({ controller }) => {
        controller.computes.takeOver(own.id);
        const listed = await labs.documents.list('cluster-hosts');
        const others = listed
          .map(({ id, body }) => ({ id, name: String(body['name']) }))
          .filter(({ id }) => id !== own.id);
        await admit(others, cluster, controller);
        cluster.expect(others);
        return { stop: async () => {} };
      },
    });
    labsOfCluster = labs;
  };
  let labsOfCluster: Store | undefined;
  const step = async (): Promise<void> => {
    labsOfCluster = undefined;
    await control?.stop();
    control = undefined;
    await server.stop();
    if (!isStopped) ({ server } = await standBy(port));
  };
  const cluster = await join(host, {
    port,
    controller: () => control?.controller,
    successor: {
      open: (path) => Database.open(path, MIGRATIONS),
      schema: MIGRATIONS.length,
      begin: (path) => store.copyTo(path),
      ...{ lead, step },
    },
    noted: async ({ id, name }) => {
      const documents = labsOfCluster?.documents;
      if (documents && !(await documents.list('cluster-hosts')).some((known) => known.id === id))
        await documents.put('cluster-hosts', id, { name });
    },
    forgotten: async ({ id }) => labsOfCluster?.documents.delete('cluster-hosts', id),
  });
  return {
    address,
    get app() {
      return control?.app ?? app;
    },
    async stop() {
      isStopped = true;
      await cluster.settled();
      // Changes of the last moments still need the cluster.
      await (control?.stop() ?? server.stop());
      await cluster.stop();
    },
  };
}

/** Makes hosts that hold no lease yet computes: labs have nodes there. */
async function admit(
  hosts: readonly NamedHost[],
  cluster: Pick<Cluster, 'dial'>,
  { computes }: Controller,
): Promise<void> {
  for (const { id, name } of hosts) {
    const place = { name, address: UNKNOWN_ADDRESS, outsideAddress: UNKNOWN_ADDRESS };
    await computes.admitMember({ ...place, id, port: 0 }, () => cluster.dial(name));
  }
}

async function join(
  { config, compute, computeApp }: HostAssembly,
  {
    port,
    controller,
    successor,
    noted,
    forgotten,
  }: {
    /** On which this server listens. */
    port: number;
    /** The one of this host, if it is there now. */
    controller: () => Controller | undefined;
    successor?: Successor;
    noted?: (host: NamedHost) => Promise<unknown>;
    forgotten?: (host: NamedHost) => Promise<unknown>;
  },
): Promise<Cluster> {
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
      const computes = controller()?.computes;
      noted?.(member).catch(ignore); // again at its next renewal
      if (isThisHost) computes?.placeLocal(member);
      else void computes?.admitMember(member, () => cluster.dial(member.name));
    },
    failoverMs: config.Cluster.failover_seconds * 1_000,
    absent: ({ id }) => void controller()?.replaceHost(id),
    forgotten: (host) => {
      forgotten?.(host).catch(ignore);
      void controller()?.computes.forgetMember(host.id);
    },
    successor,
  });
  compute.relayFrames(cluster.relay);
  return cluster;
}
