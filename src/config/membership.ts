// Whether this host is in a cluster. One file says so, and a server that is in none loads no code for it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './schema.ts';

/** In the cluster's directory; written by `labwired cluster init` and `join`. */
export const MEMBERSHIP = 'membership.json';

export const clusterDirectory = (state: string): string => join(state, 'cluster');

/** In the state directory of a host that ended its cluster, until the next start: the labs of the cluster. */
export const LEFT_LABS = 'left-labs';

/** The database of the cluster's labs, on hosts that may be its controller. */
export const clusterDatabase = (state: string): string => join(clusterDirectory(state), 'replica', 'labwire.db');

/** Whether a server with this configuration takes part in a cluster, or has to say why it cannot. */
export const isClustered = ({ state, Cluster }: Pick<Config, 'state' | 'Cluster'>): boolean =>
  Cluster.name !== '' || existsSync(join(clusterDirectory(state), MEMBERSHIP));
