// The life of the server: store -> fabric -> compute -> controller -> http -> ready; and back again in the other order.
import type { AddressInfo } from 'node:net';
import type { Compute } from '../compute/compute.ts';
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
  /** On its way; the daemon ends it, also when its own start fails. */
  store: Promise<Store>;
  /** The same. */
  fabric: StartingFabric;
  /** Called when a client asks for the end. */
  shutdown: () => void;
}

/** Starts the server, which listens when it can serve. What was started before a failure is stopped again. */
export async function startDaemon({
  config,
  store: opening,
  fabric: starting,
  shutdown,
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
  const { compute, controller, app, accounts, memoryTrimmer, loopDelay } = assemble({
    config,
    store,
    fabric,
    shutdown,
  });
  const ensuring = ensureAccount(config, accounts);
  ensuring.catch(() => {}); // told below
  await compute.start();
  // A start that fails leaves what runs to the next one.
  let keepNodes = true;
  undo.defer(() => compute.stop({ keepNodes }));
  started('compute');
  await ensuring;
  await controller.start(config.Server.port);
  undo.defer(() => controller.stop({ keepNodes }));
  started('controller');
  await moving; // not before: its thread reads its script meanwhile
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
  // At once: labs that were left open are on their way when the first request for them comes.
  const reopened = controller.reopenAll();
  if (socketPath) await server.startLocally(socketPath);
  started('server');
  memoryTrimmer.start();
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
