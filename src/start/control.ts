// The controller of this host at work: it is started, serves the network, and opens the labs that were open.
import type { AddressInfo } from 'node:net';
import type { Compute } from '../compute/compute.ts';
import type { Config } from '../config/schema.ts';
import type { Controller } from '../controller/controller.ts';
import { temporary } from '../failures.ts';
import { log } from '../host/log.ts';
import type { App } from '../http/app/app.ts';
import type { Passing } from '../http/app/passing.ts';
import type { HttpServer } from '../http/app/server.ts';
import type { Store } from '../store/store.ts';
import { assembleController, type HostAssembly, type Turns } from './assembly.ts';
import { certificateOf } from './certificate.ts';

/** How long (ms) supervised programs wait for their server to come back before they are ended. */
const CONTROLLER_PATIENCE_MS = 600_000;

/** Why a request has no answer of its own while the controller comes to this host, or leaves it. */
const CAME = temporary('The controller of the cluster came to this host meanwhile: try again.');
const LEFT = temporary(
  'The controller of the cluster left this host meanwhile: see whether the change was made, and try again.',
);

export interface Control {
  controller: Controller;
  app: App;
  address: AddressInfo;
  stop(): Promise<void>;
}

export interface ControlParts {
  host: HostAssembly;
  /** Has the labs. */
  store: Store;
  /** Called when a client requests a shutdown. */
  shutdown: () => void;
  /** Called with each part that has started. */
  started: (part: string) => void;
  /** On which to listen; 0 for any. */
  port: number;
  /** Whether labs stay open and nodes go on when it stops. */
  keepsNodes: () => boolean;
  beforeListening: () => Promise<void>;
  /** Called before the labs are opened. */
  joined?:
    | ((control: Pick<Control, 'controller' | 'address' | 'app'>) => Promise<{ stop(): Promise<void> }>)
    | undefined;
  turns?: Turns | undefined;
  /** Where hosts take turns: serves at their ports before and after the controller. */
  standby?: { server: HttpServer; app: App; address: AddressInfo } | undefined;
  /** On a host of a cluster. */
  passing?: Passing | undefined;
}

/** If a step fails, the earlier ones are stopped again. */
export async function startControl(parts: ControlParts): Promise<Control> {
  const { host, store, started, port, keepsNodes, standby } = parts;
  const { config, compute } = host;
  await using undo = new AsyncDisposableStack();
  const { controller, app } = assembleController(host, parts);
  // What serves the network, with Node's part for fetch, is loaded while the controller waits for the disk.
  await Promise.all([controller.start(port), import('../http/app/server.ts')]);
  undo.defer(() => controller.stop({ keepNodes: keepsNodes() }));
  started('controller');
  await parts.beforeListening();
  compute.expectConsoles(await consolesOfOpenLabs(store));
  const server = standby?.server ?? (await newServer(app, parts));
  undo.defer(() => (standby ? server.change(standby.app, LEFT) : server.stop()));
  if (standby) void server.change(app, CAME);
  const address = standby?.address ?? (await server.start());
  if (parts.joined) {
    const joined = await parts.joined({ controller, address, app });
    undo.defer(() => joined.stop());
    started('cluster');
  }
  // Starts before the first request, which may be for a lab that is being reopened.
  const reopened = controller.reopenAll();
  if (!standby) await startLocally(server, config);
  started('server');
  void endUnclaimed(compute, controller, reopened);
  controller.openAutomatic().catch((error: unknown) => log.error(String(error)));
  const running = undo.move();
  return { controller, app, address, stop: () => running.disposeAsync() };
}

/** A server for the network; it does not listen yet. */
export async function newServer(app: App, parts: Pick<ControlParts, 'host' | 'port' | 'passing'>): Promise<HttpServer> {
  const { port, passing } = parts;
  const { config } = parts.host;
  const { host, ssl } = config.Server;
  const { HttpServer } = await import('../http/app/server.ts');
  return new HttpServer(app, { host, port, tls: ssl ? await certificateOf(config) : undefined, passing });
}

/** Listens at the local socket, too. */
export async function startLocally(server: HttpServer, { Server: { socket_path: path } }: Config): Promise<void> {
  if (path) await server.startLocally(path);
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
  endUnclaimedLater(compute);
}

/** Ends programs from the previous run that no controller has claimed for a while. */
export function endUnclaimedLater(compute: Compute): void {
  setTimeout(() => void compute.endUnclaimed(() => true), CONTROLLER_PATIENCE_MS).unref();
}
