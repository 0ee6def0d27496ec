// Entry of the cluster's script: separate in the executable, and loaded only by hosts of a cluster and by `labwired cluster`.
export { clusterCommand } from './commands.ts';
export { examineCluster } from './health.ts';
export { isFixedController, startCluster, takesTurns } from './service.ts';
