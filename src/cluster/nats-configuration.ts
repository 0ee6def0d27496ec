// The configuration of a NATS of the cluster, written again whenever a host comes or goes: TLS with a certificate of the cluster's CA,
// one user per host with the subjects that it needs, routes to the other NATS, and limits for what JetStream stores.
import { nkeys } from '@nats-io/transport-node';
import { addressOf } from './connection.ts';
import type { ClusterFiles, HostRecord, Storage } from './layout.ts';
import { BUCKET, inboxPrefix, JOIN_INBOX, JOIN_SUBJECT, subjects } from './subjects.ts';

/** The user of hosts that have only a token. It may ask to join, nothing else; the token decides. */
export const JOIN_USER = { user: 'join', pass: 'join' };

const MEMORY_LIMIT = '64MB';
const FILE_LIMIT = '1GB';
/** Bytes of a message; streams between hosts are cut into smaller ones. */
const MESSAGE_LIMIT_BYTES = 1024 * 1024;

/** Users of NATS allow all subjects that are not named unless there is a list. */
function permissionsOf(host: string): object {
  const { up, down, ask, answer, find, leave, framesHere, framesOut } = subjects(host);
  const stream = `KV_${BUCKET}`;
  return {
    publish: [
      ...[`$KV.${BUCKET}.${host}`, '$JS.API.INFO', `$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.MSG.GET.${stream}`],
      ...['DIRECT.GET', 'CONSUMER.CREATE', 'CONSUMER.INFO', 'CONSUMER.DELETE'].map(
        (call) => `$JS.API.${call}.${stream}.>`,
      ),
      `${up}.*`,
      `${ask}.*`,
      find,
      leave,
      framesOut,
    ],
    subscribe: [`${inboxPrefix(host)}.>`, `${down}.*`, `${answer}.*`, `${framesHere}.>`],
  };
}

/** The account of hosts, and the one of NATS itself. */
const ACCOUNT = 'LABWIRE';
const SYSTEM_ACCOUNT = 'SYSTEM';

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
  storage: Storage;
  hosts: readonly HostRecord[];
}

/** Of the NATS on one host. It listens on all addresses. */
export function natsConfiguration(files: ClusterFiles, { cluster, host, server, storage, hosts }: NatsServer): string {
  const users = [
    {
      ...JOIN_USER,
      pass: undefined,
      password: JOIN_USER.pass,
      permissions: { publish: [JOIN_SUBJECT], subscribe: [`${JOIN_INBOX}.>`] },
    },
    ...hosts.map(({ name, user, server: own, standby }) => ({
      nkey: user,
      // A host that runs NATS sees all messages in any case.
      permissions: own !== undefined || standby ? { publish: ['>'], subscribe: ['>'] } : permissionsOf(name),
    })),
  ];
  const system = nkeys.fromSeed(new TextEncoder().encode(storage.systemSeed)).getPublicKey();
  const tls = { cert_file: files.path('certificate.pem'), key_file: files.path('key.pem'), timeout: 5 };
  const own = {
    server_name: serverIdOf(cluster, host),
    listen: `0.0.0.0:${addressOf(server).port}`,
    pid_file: files.path('nats.pid'),
    max_payload: MESSAGE_LIMIT_BYTES,
    tls,
    accounts: { [ACCOUNT]: { jetstream: true, users }, [SYSTEM_ACCOUNT]: { users: [{ nkey: system }] } },
    system_account: SYSTEM_ACCOUNT,
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
