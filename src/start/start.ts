// Starts the server. Slow work in other threads begins before the rest of the program is loaded.
import type { Config } from '../config/schema.ts';
import { startFabric } from '../fabric/fabric.ts';
import { invalid } from '../failures.ts';
import { isLoopback } from '../host/network/loopback.ts';
import { Store } from '../store/store.ts';
import type { Daemon } from './daemon.ts';

/**
 * Starts the server, which listens when it is ready. A failed start has answered no request and is undone.
 * @param shutdown called when a client requests a shutdown
 * @param options trimsMemory: false in a process that also does other work, whose garbage takes long to collect
 * @throws Failure `invalid` for a server that would be open to the network, or whose user has no password; `conflict` if another server has
 * the state directory or the address, or the state directory cannot be used
 */
export async function startServer(
  config: Config,
  shutdown: () => void,
  { trimsMemory = true }: { trimsMemory?: boolean } = {},
): Promise<Daemon> {
  const {
    host,
    auth,
    user,
    password,
    insecure,
    fabric_threads: threads,
    native_frame_loop: frameLoop,
    kernel_links: kernelLinks,
  } = config.Server;
  if (!auth && !insecure && !isLoopback(host)) {
    throw invalid(
      `host = ${host} is open to the network without a password: leave out auth = false in [Server], or start with --insecure.`,
    );
  }
  if (auth && user !== '' && password === '') {
    throw invalid(
      `user = ${user} is set without a password: set password in [Server] (or LABWIRE_SERVER_PASSWORD), too, or leave out user.`,
    );
  }
  const store = Store.open({ stateDirectory: config.state, projects: config.Server.projects_path });
  store.catch(() => {}); // awaited by the daemon
  const fabric = startFabric({ threads, frameLoop, kernelLinks });
  const { startDaemon } = await import('./daemon.ts');
  return startDaemon({ config, store, fabric, shutdown, trimsMemory });
}
