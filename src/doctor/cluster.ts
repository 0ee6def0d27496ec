// Checks the cluster that this host is in.
import { isClustered } from '../config/membership.ts';
import { loadCluster } from '../start/load-cluster.ts';
import type { Check } from './check.ts';

export const cluster: Check = {
  subject: 'cluster',
  see: 'cluster#commands',
  async examine({ loaded: { config } }) {
    if (!isClustered(config)) return undefined;
    return (await loadCluster()).examineCluster(config.state, config.Cluster.name);
  },
};
