// Whether this host is in a cluster. One file says so, and a server that is in none loads no code for it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './schema.ts';

/** In the cluster's directory; written by `labwired cluster init` and `join`. */
export const MEMBERSHIP = 'membership.json';

export const clusterDirectory = (state: string): string => join(state, 'cluster');

/** Whether a server with this configuration takes part in a cluster, or has to say why it cannot. */
export const isClustered = ({ state, Cluster }: Pick<Config, 'state' | 'Cluster'>): boolean =>
  Cluster.name !== '' || existsSync(join(clusterDirectory(state), MEMBERSHIP));
