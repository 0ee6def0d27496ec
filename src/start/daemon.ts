// The server's life cycle: store -> fabric -> compute -> controller -> http -> ready, and the reverse.
import type { AddressInfo } from 'node:net';
import { isClustered } from '../config/membership.ts';
import type { Config } from '../config/schema.ts';
import type { StartingFabric } from '../fabric/fabric.ts';
import { log } from '../host/log.ts';
import type { App } from '../http/app/app.ts';
import type { Store } from '../store/store.ts';
import { accountsOf, ensureAccount } from './access.ts';
import { assembleHost } from './assembly.ts';
import { type Control, type ControlParts, startControl } from './control.ts';

export interface Daemon {
  address: AddressInfo;
  /** Serves the network; callers in this process may use it directly. */
  readonly app: App;
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
  const host = assembleHost({ config, store, fabric });
  const { compute, memoryTrimmer, loopDelay } = host;
  const ensuring = ensureAccount(config, accountsOf(config));
  ensuring.catch(() => {}); // awaited below
  await compute.start();
  // After a failed start, running nodes stay for the next one.
  let keepNodes = true;
  undo.defer(() => compute.stop({ keepNodes }));
  started('compute');
  await ensuring;
  const parts = {
    ...{ host, store, shutdown, started },
    port: config.Server.port,
    keepsNodes: () => keepNodes,
    beforeListening: async () => {
      await moving; // only now: the thread has loaded its script meanwhile
      if (fabric.withoutLoop !== undefined && config.Server.native_frame_loop === 'automatic')
        log.warn('frames are moved without the native loop, which costs time and CPU', { reason: fabric.withoutLoop });
      started('fabric');
      loopDelay.start();
      undo.defer(() => loopDelay.stop());
    },
  };
  const control = isClustered(config) ? await startInCluster(parts) : await startControl(parts);
  undo.defer(() => control.stop());
  store.reserveSpace();
  if (trimsMemory) memoryTrimmer.start();
  undo.defer(() => memoryTrimmer.stop());
  const running = undo.move();
  return {
    address: control.address,
    get app() {
      return control.app;
    },
    stop() {
      keepNodes = false;
      return running.disposeAsync();
    },
    leave: () => running.disposeAsync(),
  };
}

async function startInCluster(parts: ControlParts): Promise<Pick<Control, 'address' | 'app' | 'stop'>> {
  const { passingOf, takePart, takesTurns } = await import('./cluster.ts');
  const { host } = parts;
  const passing = await passingOf(host.config);
  if (await takesTurns(host.config)) return (await import('./turns.ts')).startTurns({ ...parts, passing });
  return startControl({ ...parts, passing, joined: (control) => takePart(host, passing, control) });
}
