// The server in the process of a test, as the executable starts it.
import { begin } from '../src/beginnings.ts';
import type { Config } from '../src/config/schema.ts';
import { type Daemon, startDaemon } from '../src/daemon.ts';
import { openFront } from '../src/front.ts';

export async function daemonHere(config: Config): Promise<Daemon> {
  return startDaemon({ config, front: await openFront(config), beginnings: begin(config), shutdown: () => {} });
}
