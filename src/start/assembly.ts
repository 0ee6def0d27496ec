// The composition root: creates the server's parts and one App with all routes. Starts nothing.
import { Compute } from '../compute/compute.ts';
import { creationMembers } from '../compute/emulators/registry.ts';
import type { Config } from '../config/schema.ts';
import { localTransport } from '../controller/computes/local.ts';
import { Controller } from '../controller/controller.ts';
import { eventMetrics } from '../events/metrics.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { KeyedLock } from '../host/values/keyed-lock.ts';
import { ticketRoute } from '../http/access/tickets.ts';
import { App } from '../http/app/app.ts';
import { Observation } from '../http/app/request-log.ts';
import { openApiRoute } from '../http/openapi/document.ts';
import { pageRoutes } from '../pages/routes.ts';
import { AuditFile } from '../store/audit.ts';
import type { Store } from '../store/store.ts';
import type { HostAccounts } from './access.ts';
import { createAccess } from './gate-setup.ts';
import { IdleMemoryTrimmer } from './idle-memory-trimmer.ts';
import { LoopDelay, metricsRoute } from './metrics-route.ts';

export interface Assembly {
  compute: Compute;
  controller: Controller;
  /** Serves the network. */
  app: App;
  /** Serves a controller that needs no authentication: the one of this process or of the cluster. */
  computeApp: App;
  accounts: HostAccounts;
  memoryTrimmer: IdleMemoryTrimmer;
  loopDelay: LoopDelay;
}

export interface AssemblyParts {
  config: Config;
  store: Store;
  fabric: Fabric;
  /** Called when a client requests a shutdown. */
  shutdown: () => void;
}

export function assemble({ config, store, fabric, shutdown }: AssemblyParts): Assembly {
  const otherProjects = async (): Promise<{ id: string; path: string }[]> =>
    (await store.projects.list()).map(({ project_id: id, path }) => ({ id, path }));
  const { instance, documents } = store;
  const observation = new Observation();
  const { accounts, authentication, admissions, tickets, guards, record } = createAccess(
    config,
    documents,
    (method, path) => app.definitionAt(method, path),
  );
  const isShared = () => accounts.file.isShared();
  const compute = new Compute({ config, fabric, instance, documents, isShared, otherProjects });
  // A node of the compute has one lock for requests from the controller and from the network.
  const lock = new KeyedLock();
  const audit = new AuditFile(config.state);
  const { file, hostName } = accounts;
  const computeApp = new App(compute.routes, { lock });
  const controller = new Controller({
    config,
    store,
    shutdown,
    local: localTransport(computeApp, () => compute.follow()),
    properties: creationMembers,
    consolePorts: compute.consolePorts,
    accounts: { file, hostName, audit, admissions, authentication },
  });
  authentication.tokenUsed = (id) => controller.tokenUses.used(id);
  const routes = [...controller.routes, ...compute.routes];
  const memoryTrimmer = new IdleMemoryTrimmer(fabric);
  const loopDelay = new LoopDelay();
  const metrics = metricsRoute([
    ...observation.metrics,
    loopDelay.metric,
    ...controller.metrics,
    ...compute.metrics,
    ...eventMetrics({
      controller: controller.announcer.controller,
      project: controller.announcer.project,
      compute: compute.events,
    }),
  ]);
  const { v2, v3 } = config.Server.version;
  const version = v2.number;
  const described = [...routes, ticketRoute(tickets, (path) => app.hasSocket(path))];
  const pages = [
    metrics,
    openApiRoute(described, {
      version,
      address: '/v2/openapi.json',
      load: async () => (await import('../controller/server/api-document.ts')).v2,
    }),
    ...pageRoutes(version),
  ];
  const app: App = new App([...described, ...pages], {
    middleware: [memoryTrimmer.middleware, observation.middleware, ...guards],
    lock,
    access: controller.access,
    admissions,
    record,
    v3: () => {
      const routes = controller.v3Routes();
      const load = async () => (await import('../controller/v3/api-document.ts')).v3;
      const document = openApiRoute(routes, { version: v3.number, address: '/v3/openapi.json', open: true, load });
      return [...routes, document];
    },
  });
  return { compute, controller, app, computeApp, accounts, memoryTrimmer, loopDelay };
}
