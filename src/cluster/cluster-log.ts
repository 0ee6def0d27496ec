// The log of the server, as the cluster's script gets it.
export interface ClusterLog {
  info(message: string, details?: Record<string, string | number>): void;
  warn(message: string, details?: Record<string, string | number>): void;
  error(message: string, details?: Record<string, string | number>): void;
}
