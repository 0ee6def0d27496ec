// Entry of the cluster's script: separate in the executable, and loaded only by hosts with a `[Cluster]` section and by `labwired cluster`.
export { clusterCommand } from './commands.ts';
export { startCluster } from './service.ts';
