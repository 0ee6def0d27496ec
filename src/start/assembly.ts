// The composition root: creates the server's parts and one App with all routes. Starts nothing.
import type { KeptFiles } from '../api/routes/definition.ts';
import type { Shared } from '../cluster/shared-files.ts';
import { Compute } from '../compute/compute.ts';
import { creationMembers } from '../compute/emulators/registry.ts';
import type { Config } from '../config/schema.ts';
import { localTransport } from '../controller/computes/local.ts';
import { Controller } from '../controller/controller.ts';
import { eventMetrics } from '../events/metrics.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { forbidden, temporary } from '../failures.ts';
import { KeyedLock } from '../host/values/keyed-lock.ts';
import type { AccessControl } from '../http/access/access-control.ts';
import { ticketRoute } from '../http/access/tickets.ts';
import { App, type AppOptions } from '../http/app/app.ts';
import { renderFailure } from '../http/app/errors.ts';
import { Observation } from '../http/app/request-log.ts';
import { targetOf } from '../http/app/target.ts';
import { openApiRoute } from '../http/openapi/document.ts';
import { recognizedParams } from '../http/v3/form.ts';
import { pageRoutes } from '../pages/routes.ts';
import { AuditFile } from '../store/audit.ts';
import type { Store } from '../store/store.ts';
import { accountsOf, type HostAccounts } from './access.ts';
import { createAccess } from './gate-setup.ts';
import { IdleMemoryTrimmer } from './idle-memory-trimmer.ts';
import { LoopDelay, metricsRoute } from './metrics-route.ts';

/** What runs nodes on this host, with or without the controller here. */
export interface HostAssembly {
  config: Config;
  compute: Compute;
  /** Serves a controller that needs no authentication: the one of this process or of the cluster. */
  computeApp: App;
  memoryTrimmer: IdleMemoryTrimmer;
  loopDelay: LoopDelay;
  /** A node of the compute has one lock for requests from the controller and from the network. */
  lock: KeyedLock;
}

/** What serves the network. */
export interface Assembly {
  controller: Controller;
  app: App;
  accounts: HostAccounts;
}

export interface HostParts {
  config: Config;
  store: Store;
  fabric: Fabric;
}

export interface AppParts {
  /** Has the labs. */
  store: Store;
  /** Called when a client requests a shutdown. */
  shutdown: () => void;
  /** Where hosts take turns at being the controller. */
  turns?: Turns | undefined;
}

/** What a host that takes turns at being the controller says of that. */
export interface Turns {
  /** Why nothing can be changed now, if so. */
  obstacle(): string | undefined;
  /** The files of this kind, those of a lab as it is now. */
  filesOf(files: KeptFiles, projectId: string | undefined): Promise<Shared[]>;
  /** Resolves when the next controller can have these files. @throws Failure `unavailable` */
  keep(shared: readonly Shared[]): Promise<void>;
  /** The trail of the cluster: also those lines that other hosts have noted as the controller. */
  readonly audit: AuditFile;
}

type Handler = NonNullable<AppOptions['middleware']>[number];

export function assembleHost({ config, store, fabric }: HostParts): HostAssembly {
  const otherProjects = async (): Promise<{ id: string; path: string }[]> =>
    (await store.projects.list()).map(({ project_id: id, path }) => ({ id, path }));
  const { instance, documents } = store;
  const { file } = accountsOf(config);
  const isShared = () => file.isShared();
  const compute = new Compute({ config, fabric, instance, documents, isShared, otherProjects });
  const lock = new KeyedLock();
  const computeApp = new App(compute.routes, { lock });
  return {
    ...{ config, compute, computeApp, lock },
    memoryTrimmer: new IdleMemoryTrimmer(fabric),
    loopDelay: new LoopDelay(),
  };
}

/** The controller and what serves the network on the host where it is. */
export function assembleController(host: HostAssembly, { store, shutdown, turns }: AppParts): Assembly {
  const { config, compute, computeApp, lock, memoryTrimmer, loopDelay } = host;
  const observation = new Observation();
  const { accounts, authentication, admissions, tickets, guards, record } = createAccess(
    config,
    store.documents,
    (method, path) => app.definitionAt(method, path),
  );
  const audit = turns?.audit ?? new AuditFile(config.state);
  const { file, hostName } = accounts;
  const controller = new Controller({
    config,
    store,
    shutdown,
    local: localTransport(computeApp, () => compute.follow()),
    properties: creationMembers,
    consolePorts: compute.consolePorts,
    accounts: { file, hostName, audit, admissions, authentication },
    isSuccession: turns !== undefined,
    keepFiles: async (projectId) => turns?.keep(await turns.filesOf('project', projectId)),
  });
  authentication.tokenUsed = (id) => controller.tokenUses.used(id);
  const routes = [...controller.routes, ...compute.routes];
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
    middleware: [
      memoryTrimmer.middleware,
      observation.middleware,
      ...guards,
      ...(turns ? [whilePossible(turns, controller, (method, path) => app.routeAt(method, path))] : []),
    ],
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
  return { controller, app, accounts };
}

/** Who may do what else is decided by the controller. */
const ADMINS_ONLY: AccessControl = {
  admit: (_route, _request, { role }) => {
    if (role === 'admin') return { watches: false };
    throw forbidden('Only admins may use this host by itself: use the controller of the cluster.');
  },
  answered: () => {},
};

/** What serves the network on a host that takes turns at being the controller while another one is it. */
export function assembleStandby(host: HostAssembly, store: Store): App {
  const { config, compute, lock, memoryTrimmer, loopDelay } = host;
  const observation = new Observation();
  const { admissions, guards } = createAccess(config, store.documents, (method, path) =>
    app.definitionAt(method, path),
  );
  const metrics = [...observation.metrics, loopDelay.metric, ...compute.metrics];
  const own = [...compute.routes, metricsRoute(metrics)];
  const elsewhere: Handler = async (context, next) => {
    if (app.definitionAt(context.req.method, targetOf(context.req.raw, context.env)) !== undefined) return next();
    return renderFailure(temporary('The controller of the cluster starts on this host: try again.'));
  };
  const app: App = new App(own, {
    middleware: [memoryTrimmer.middleware, observation.middleware, ...guards, elsewhere],
    lock,
    access: ADMINS_ONLY,
    admissions,
  });
  return app;
}

/** Refuses changes while the cluster cannot keep them; reading goes on. Others are acknowledged when their files and events are kept, too. */
function whilePossible(turns: Turns, { keptEvents }: Controller, routeAt: App['routeAt']): Handler {
  return async (context, next) => {
    const { method, path } = context.req;
    if (['GET', 'HEAD', 'OPTIONS'].includes(method) || isOfCompute(path)) return next();
    const reason = turns.obstacle();
    if (reason !== undefined) return renderFailure(temporary(reason));
    const { definition: { keeps: files } = {}, params = {} } = routeAt(method, path) ?? {};
    // As the route finds the lab, however the client spells its identifier.
    const { project_id: named } = recognizedParams(params);
    const change = files === undefined ? next : () => keeping(turns, { files, named }, context, next);
    return keptEvents ? keptEvents.during(change) : change();
  };
}

/** Keeps the files that a change has made or removed. */
async function keeping(
  turns: Turns,
  { files, named }: { files: KeptFiles; named: string | undefined },
  context: Parameters<Handler>[0],
  next: () => Promise<void>,
): Promise<void> {
  const before = await turns.filesOf(files, named);
  await next();
  if (!context.res.ok) return;
  const isJson = context.res.headers.get('content-type')?.startsWith('application/json') === true;
  const answer: unknown = isJson ? await context.res.clone().json() : undefined;
  const { project_id: made = named } = (answer ?? {}) as { project_id?: string };
  const after = await turns.filesOf(files, made);
  const isNew = ({ path }: Shared): boolean => !before.some((one) => one.path === path);
  await turns.keep([...before, ...after.filter(isNew)]);
}

const isOfCompute = (path: string): boolean => path.startsWith('/v2/compute/');
