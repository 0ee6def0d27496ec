// The composition root: config -> store -> fabric -> compute -> controller -> http -> ready; and back again in the other order.
import type { AddressInfo } from 'node:net';
import { ensureAccount } from './access.ts';
import { abandon, type Beginnings } from './beginnings.ts';
import { Compute } from './compute/compute.ts';
import { creationMembers } from './compute/emulators/registry.ts';
import type { Config } from './config/schema.ts';
import { Controller } from './controller/controller.ts';
import { entranceOf } from './entrance.ts';
import { eventMetrics } from './events/metrics.ts';
import type { Front } from './front.ts';
import { KeyedLock } from './host/keyed-lock.ts';
import { log } from './host/log.ts';
import { App } from './http/app.ts';
import { openApiRoute } from './http/openapi.ts';
import { ticketRoute } from './http/tickets.ts';
import { IdleMemoryTrimmer } from './idle-memory-trimmer.ts';
import { LoopDelay, metricsRoute } from './metrics.ts';
import { pageRoutes } from './pages/routes.ts';
import { AuditFile } from './store/audit.ts';
import type { Store } from './store/store.ts';

/** Milliseconds that programs wait for the server whose they are, which looks for this one every few seconds. */
const CONTROLLER_PATIENCE_MS = 600_000;

export interface Daemon {
  address: AddressInfo;
  /** What answers the network; callers in this process may ask it directly. */
  app: App;
  /** Ends everything that runs and writes everything that is to be kept. */
  stop(): Promise<void>;
  /** The same, but labs stay open and their nodes run on, for the next life of this server to take back. */
  leave(): Promise<void>;
}

export interface DaemonParts {
  config: Config;
  front: Front;
  beginnings: Beginnings;
  /** Called when a client asks for the end. */
  shutdown: () => void;
}

/** Starts the server behind its front. What was started before a failure is stopped again, and so are front and beginnings. */
export async function startDaemon({ config, front, beginnings, shutdown }: DaemonParts): Promise<Daemon> {
  await using undo = new AsyncDisposableStack();
  undo.defer(() => front.server.stop(0)); // requests that still wait get no answer
  undo.defer(() => abandon(beginnings));
  const started = (part: string): void => log.debug(`started ${part}`, { milliseconds: Math.round(performance.now()) });
  started('program');
  const { fabric, moving } = beginnings.fabric;
  const store = await beginnings.store;
  started('store');
  const otherProjects = async (): Promise<{ id: string; path: string }[]> =>
    (await store.projects.list()).map(({ project_id: id, path }) => ({ id, path }));
  const { instance, documents } = store;
  const compute = new Compute({ config, fabric, instance, documents, otherProjects });
  const { observation, server } = front;
  const { accounts, authentication, admissions, tickets, guards, record } = entranceOf(config);
  const ensuring = ensureAccount(config, accounts);
  ensuring.catch(() => {}); // told below
  await compute.start();
  // A start that fails leaves what runs to the next one.
  let keepNodes = true;
  undo.defer(() => compute.stop({ keepNodes }));
  started('compute');
  // A node of the compute is locked whichever way a request comes: from the controller, or from the network.
  const lock = new KeyedLock();
  await ensuring;
  const audit = new AuditFile(config.state);
  const { file, hostName } = accounts;
  const controller = new Controller({
    ...{ config, store, shutdown },
    local: new App(compute.routes, { lock }),
    properties: creationMembers,
    accounts: { file, hostName, audit, admissions },
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
  const described = [...routes, ticketRoute(tickets, (path) => app.hasSocket(path))];
  const pages = [metrics, openApiRoute(described, config.Server), ...pageRoutes(config.Server.version)];
  const app: App = new App([...described, ...pages], {
    middleware: [memoryTrimmer.middleware, observation.middleware, ...guards],
    lock,
    access: controller.access,
    admissions,
    record,
  });
  await controller.start(config.Server.port);
  undo.defer(() => controller.stop({ keepNodes }));
  started('controller');
  await moving; // not before: its thread reads its script meanwhile
  if (fabric.withoutLoop !== undefined && config.Server.native_frame_loop === 'automatic')
    log.warn('frames are moved without the native loop, which costs time and CPU', { reason: fabric.withoutLoop });
  started('fabric');
  loopDelay.start();
  undo.defer(() => loopDelay.stop());
  // From the first request for it on, labs that were left open are on their way.
  compute.expectConsoles(await consolesOfOpenLabs(store));
  const reopened = controller.reopenAll();
  if (config.Server.socket_path) await server.startLocally(config.Server.socket_path);
  await server.prepare();
  front.app.arrived(app);
  undo.defer(() => server.stop());
  started('server');
  memoryTrimmer.start();
  undo.defer(() => memoryTrimmer.stop());
  void endUnclaimed(compute, controller, reopened);
  controller.openAutomatic().catch((error: unknown) => log.error(String(error)));
  const running = undo.move();
  return {
    address: front.address,
    app,
    stop() {
      keepNodes = false;
      return running.disposeAsync();
    },
    leave: () => running.disposeAsync(),
  };
}

/** The console ports that nodes of this host had in the labs that were open when a former life ended, with their projects. */
async function consolesOfOpenLabs({ labs }: Store): Promise<Map<number, string>> {
  const ports = new Map<number, string>();
  for (const { project_id: id } of await labs.list()) {
    for (const node of (await labs.load(id))?.nodes ?? []) {
      if (node['compute_id'] !== 'local') continue;
      const { aux } = (node['properties'] ?? {}) as Record<string, unknown>;
      for (const port of [node['console'], aux]) if (typeof port === 'number') ports.set(port, id);
    }
  }
  return ports;
}

/**
 * Programs of a former life that no lab of this server has taken back are ended; those of projects that another server has opened here
 * wait for it.
 */
async function endUnclaimed(compute: Compute, controller: Controller, reopened: Promise<void>): Promise<void> {
  await reopened;
  compute.expectConsoles(new Map());
  await compute.endUnclaimed((projectId) => controller.hasProject(projectId));
  setTimeout(() => void compute.endUnclaimed(() => true), CONTROLLER_PATIENCE_MS).unref();
}
