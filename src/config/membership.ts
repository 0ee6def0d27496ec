// Whether this host is in a cluster. One file says so, and a server that is in none loads no code for it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** In the cluster's directory; written by `labwired cluster init` and `join`. */
export const MEMBERSHIP = 'membership.json';

export const clusterDirectory = (state: string): string => join(state, 'cluster');

export const isInCluster = (state: string): boolean => existsSync(join(clusterDirectory(state), MEMBERSHIP));
