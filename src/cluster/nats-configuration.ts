// The configuration of a NATS of the cluster, written again when one that runs NATS comes, and when any goes: TLS with a certificate of the
// cluster's CA, who signs the claims of its users, routes to the other NATS, and limits for what JetStream stores.
import { addressOf, MOST_PINGS, PING_MS } from './connection.ts';
import type { ClusterFiles, HostRecord, Storage } from './layout.ts';
import { type CompleteKeys, userConfiguration } from './nats-users.ts';

const MEMORY_LIMIT = '64MB';
const FILE_LIMIT = '1GB';
/** Bytes of a message; streams between hosts are cut into smaller ones. */
const MESSAGE_LIMIT_BYTES = 1024 * 1024;

/** Routes between NATS have a port of their own: 6222 beside 4222. */
const ROUTE_PORT_DISTANCE = 2000;

export const serverIdOf = (cluster: string, host: string): string => `${cluster}-${host}`;

function routeOf(server: string): string {
  const { port } = addressOf(server);
  return `${server.slice(0, server.lastIndexOf(':'))}:${port + ROUTE_PORT_DISTANCE}`;
}

export interface NatsServer {
  cluster: string;
  /** The name of its host. */
  host: string;
  /** HOST:PORT by which others reach it. */
  server: string;
  storage: Storage & { keys: CompleteKeys };
  hosts: readonly HostRecord[];
}

/** Of the NATS on one host. It listens on all addresses. */
export function natsConfiguration(files: ClusterFiles, { cluster, host, server, storage, hosts }: NatsServer): string {
  const tls = { cert_file: files.path('certificate.pem'), key_file: files.path('key.pem'), timeout: 5 };
  const own = {
    server_name: serverIdOf(cluster, host),
    listen: `0.0.0.0:${addressOf(server).port}`,
    pid_file: files.path('nats.pid'),
    max_payload: MESSAGE_LIMIT_BYTES,
    ping_interval: `${PING_MS / 1_000}s`,
    ping_max: MOST_PINGS,
    tls,
    ...userConfiguration(storage.keys, storage.revoked),
  };
  const others = hosts.flatMap(({ server: other }) => (other === undefined || other === server ? [] : [other]));
  const routes = {
    client_advertise: server,
    cluster: {
      name: cluster,
      listen: `0.0.0.0:${addressOf(routeOf(server)).port}`,
      advertise: routeOf(server),
      // JetStream refuses to start without a route. NATS leaves out the one to itself.
      routes: (others.length > 0 ? others : [server]).map((other) => `nats://${routeOf(other)}`),
      tls: { ...tls, ca_file: files.authority.certificate, verify: true },
    },
  };
  const comment = '# Written by labwired; changes are lost when a host joins or leaves.';
  // NATS reads JSON, except its sizes with a unit, which are bare words.
  const limits = `jetstream { store_dir: ${JSON.stringify(files.path('jetstream'))}, max_mem: ${MEMORY_LIMIT}, max_file: ${FILE_LIMIT} }`;
  const members = Object.entries(storage.servers > 1 ? { ...own, ...routes } : own).map(
    ([key, value]) => `${key}: ${JSON.stringify(value)}`,
  );
  return [comment, ...members, limits, ''].join('\n');
}
