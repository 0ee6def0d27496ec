// The compute `auto`: clients choose it, and the controller chooses a host for each node. It is not registered.
import type { ComputeObject } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import type { Compute } from './compute.ts';

const AUTO_NAME = 'Placed automatically';

/**
 * Its object, if clients have a choice: at least two computes were reached since the server started. It stays while one
 * of them is unreachable, because templates name it.
 */
export function autoObject(computes: readonly Compute[]): ComputeObject | undefined {
  const reached = computes.filter(({ capabilities }) => capabilities.version !== null);
  const own = reached.find(({ id }) => id === 'local');
  if (reached.length < 2 || !own || computes.some(({ id }) => id === AUTO_ID)) return undefined;
  const { protocol, host, port } = own.description;
  return {
    compute_id: AUTO_ID,
    name: AUTO_NAME,
    protocol,
    host,
    port,
    user: null,
    connected: true,
    cpu_usage_percent: null,
    memory_usage_percent: null,
    capabilities: {
      ...own.capabilities,
      node_types: [...new Set(reached.flatMap(({ capabilities }) => capabilities.node_types))],
    },
    last_error: null,
  };
}
