// What a start of the server waits for and no code of ours does: begun before the rest of the program is read, which takes as long.
import type { Config } from './config/schema.ts';
import { type StartingFabric, startFabric } from './fabric/fabric.ts';
import { Failure } from './failures.ts';
import { isLoopback } from './host/loopback.ts';
import { Store } from './store/store.ts';

/** Parts of the server that are on their way. Whoever has them ends them, also when they come only later. */
export interface Beginnings {
  fabric: StartingFabric;
  store: Promise<Store>;
}

/**
 * Lets the fabric's first thread start, and opens the state directory. A failure is told to whoever waits for the part.
 * @throws Failure `invalid` for a server that would be open to the network; nothing is touched then
 */
export function begin(config: Config): Beginnings {
  const { host, auth, insecure, fabric_threads: threads, native_frame_loop: frameLoop } = config.Server;
  if (!auth && !insecure && !isLoopback(host)) {
    throw new Failure(
      'invalid',
      `host = ${host} is open to the network without a password: leave out auth = false in [Server], or start with --insecure.`,
    );
  }
  const fabric = startFabric({ threads, frameLoop });
  const store = Store.open({ stateDirectory: config.state });
  store.catch(() => {});
  return { fabric, store };
}
