// Loads the cluster's script, with all code for NATS. Only hosts of a cluster and `labwired cluster` need it.
import { loadScript } from '../host/processes/compiled-script.ts';

export async function loadCluster(): Promise<typeof import('../cluster/main.ts')> {
  const script = await loadScript('cluster', new URL('../cluster/main.ts', import.meta.url));
  return script as typeof import('../cluster/main.ts');
}
