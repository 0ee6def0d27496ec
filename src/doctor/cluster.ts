// Checks the cluster that this host is in.
import { isInCluster } from '../config/membership.ts';
import { loadCluster } from '../start/load-cluster.ts';
import type { Check } from './check.ts';

export const cluster: Check = {
  subject: 'cluster',
  see: 'cluster#commands',
  async examine({ loaded: { config } }) {
    const { name } = config.Cluster;
    if (name === '' && !isInCluster(config.state)) return undefined;
    return (await loadCluster()).examineCluster(config.state, name);
  },
};
