// The server's life cycle: store -> fabric -> compute -> controller -> http -> ready, and the reverse.
import type { AddressInfo } from 'node:net';
import type { Compute } from '../compute/compute.ts';
import { isClustered } from '../config/membership.ts';
import type { Config } from '../config/schema.ts';
import type { Controller } from '../controller/controller.ts';
import type { StartingFabric } from '../fabric/fabric.ts';
import { log } from '../host/log.ts';
import type { App } from '../http/app/app.ts';
import { HttpServer } from '../http/app/server.ts';
import type { Store } from '../store/store.ts';
import { ensureAccount } from './access.ts';
import { assemble } from './assembly.ts';
import { certificateOf } from './certificate.ts';

/** How long (ms) supervised programs wait for their server to come back before they are ended. */
const CONTROLLER_PATIENCE_MS = 600_000;

export interface Daemon {
  address: AddressInfo;
  /** Serves the network; callers in this process may use it directly. */
  app: App;
  /** Stops everything and writes all pending data. */
  stop(): Promise<void>;
  /** Stops the server but leaves labs open and nodes running, to be reattached at the next start. */
  leave(): Promise<void>;
}

export interface DaemonParts {
  config: Config;
  /** Pending; the daemon closes it, also if its own start fails. */
  store: Promise<Store>;
  /** Likewise. */
  fabric: StartingFabric;
  /** Called when a client requests a shutdown. */
  shutdown: () => void;
  /** Whether unused memory of the process is returned to the system. */
  trimsMemory: boolean;
}

/** Starts the server, which listens when it is ready. If a step fails, the earlier ones are stopped again. */
export async function startDaemon({
  config,
  store: opening,
  fabric: starting,
  shutdown,
  trimsMemory,
}: DaemonParts): Promise<Daemon> {
  await using undo = new AsyncDisposableStack();
  const { fabric, moving } = starting;
  undo.defer(() =>
    moving.then(
      () => fabric.stop(),
      () => {},
    ),
  );
  const started = (part: string): void => log.debug(`started ${part}`, { milliseconds: Math.round(performance.now()) });
  started('program');
  const store = undo.use(await opening);
  started('store');
  const { compute, controller, app, computeApp, accounts, memoryTrimmer, loopDelay } = assemble({
    config,
    store,
    fabric,
    shutdown,
  });
  const ensuring = ensureAccount(config, accounts);
  ensuring.catch(() => {}); // awaited below
  await compute.start();
  // After a failed start, running nodes stay for the next one.
  let keepNodes = true;
  undo.defer(() => compute.stop({ keepNodes }));
  started('compute');
  await ensuring;
  await controller.start(config.Server.port);
  undo.defer(() => controller.stop({ keepNodes }));
  started('controller');
  await moving; // only now: the thread has loaded its script meanwhile
  if (fabric.withoutLoop !== undefined && config.Server.native_frame_loop === 'automatic')
    log.warn('frames are moved without the native loop, which costs time and CPU', { reason: fabric.withoutLoop });
  started('fabric');
  loopDelay.start();
  undo.defer(() => loopDelay.stop());
  compute.expectConsoles(await consolesOfOpenLabs(store));
  const { host, port, ssl, socket_path: socketPath } = config.Server;
  const server = new HttpServer(app, { host, port, tls: ssl ? await certificateOf(config) : undefined });
  undo.defer(() => server.stop());
  const address = await server.start();
  if (isClustered(config)) {
    const { takePart } = await import('./cluster.ts');
    const cluster = await takePart({ config, port: address.port, computeApp, controller, compute });
    undo.defer(() => cluster.stop());
    started('cluster');
  }
  // Starts before the first request, which may be for a lab that is being reopened.
  const reopened = controller.reopenAll();
  if (socketPath) await server.startLocally(socketPath);
  started('server');
  if (trimsMemory) memoryTrimmer.start();
  undo.defer(() => memoryTrimmer.stop());
  void endUnclaimed(compute, controller, reopened);
  controller.openAutomatic().catch((error: unknown) => log.error(String(error)));
  const running = undo.move();
  return {
    address,
    app,
    stop() {
      keepNodes = false;
      return running.disposeAsync();
    },
    leave: () => running.disposeAsync(),
  };
}

/** The console ports of this host's nodes in the labs that were open at the last stop, with their projects. */
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
 * Ends programs from the previous run that no lab has reattached. Those of projects opened by another server are ended only after {@link
 * CONTROLLER_PATIENCE_MS}.
 */
async function endUnclaimed(compute: Compute, controller: Controller, reopened: Promise<void>): Promise<void> {
  await reopened;
  compute.expectConsoles(new Map());
  await compute.endUnclaimed((projectId) => controller.hasProject(projectId));
  setTimeout(() => void compute.endUnclaimed(() => true), CONTROLLER_PATIENCE_MS).unref();
}
