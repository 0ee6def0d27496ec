// The server in the process of a test, as the executable starts it, but for the collection of unused memory, which takes long beside all that a test has loaded.
import type { Config } from '../src/config/schema.ts';
import type { Daemon } from '../src/start/daemon.ts';
import { startServer } from '../src/start/start.ts';

export async function daemonHere(config: Config): Promise<Daemon> {
  return startServer(config, () => {}, { trimsMemory: false });
}
