// The configuration of the cluster's NATS, written again whenever a host comes or goes: TLS with a certificate of the cluster's CA,
// one user per host with the subjects that it needs, and limits for what JetStream stores.
import type { ClusterFiles, HostRecord } from './layout.ts';
import { BUCKET, inboxPrefix, JOIN_INBOX, JOIN_SUBJECT, subjects } from './subjects.ts';

/** The user of hosts that have only a token. It may ask to join, nothing else; the token decides. */
export const JOIN_USER = { user: 'join', pass: 'join' };

const MEMORY_LIMIT = '64MB';
const FILE_LIMIT = '1GB';
/** Bytes of a message; streams between hosts are cut into smaller ones. */
const MESSAGE_LIMIT_BYTES = 1024 * 1024;

/** Users of NATS allow all subjects that are not named unless there is a list. */
function permissionsOf(host: string): object {
  const { up, down, leave, framesHere, framesOut } = subjects(host);
  const stream = `KV_${BUCKET}`;
  return {
    publish: [
      ...[`$KV.${BUCKET}.${host}`, '$JS.API.INFO', `$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.MSG.GET.${stream}`],
      ...['DIRECT.GET', 'CONSUMER.CREATE', 'CONSUMER.INFO', 'CONSUMER.DELETE'].map(
        (call) => `$JS.API.${call}.${stream}.>`,
      ),
      `${up}.*`,
      leave,
      framesOut,
    ],
    subscribe: [`${inboxPrefix(host)}.>`, `${down}.*`, `${framesHere}.>`],
  };
}

/** @param listen HOST:PORT, on all addresses with HOST `0.0.0.0` */
export function natsConfiguration(
  files: ClusterFiles,
  {
    cluster,
    listen,
    controller,
    hosts,
  }: { cluster: string; listen: string; controller: string; hosts: readonly HostRecord[] },
): string {
  const users = [
    {
      ...JOIN_USER,
      pass: undefined,
      password: JOIN_USER.pass,
      permissions: { publish: [JOIN_SUBJECT], subscribe: [`${JOIN_INBOX}.>`] },
    },
    ...hosts.map(({ name, user, standby }) => ({
      nkey: user,
      permissions: name === controller || standby ? { publish: ['>'], subscribe: ['>'] } : permissionsOf(name),
    })),
  ];
  const own = {
    server_name: `${cluster}-${controller}`,
    listen,
    pid_file: files.path('nats.pid'),
    max_payload: MESSAGE_LIMIT_BYTES,
    tls: { cert_file: files.path('certificate.pem'), key_file: files.path('key.pem'), timeout: 5 },
    authorization: { users },
  };
  const comment = '# Written by labwired cluster; changes are lost when a host joins or leaves.';
  // NATS reads JSON, except its sizes with a unit, which are bare words.
  const limits = `jetstream { store_dir: ${JSON.stringify(files.path('jetstream'))}, max_mem: ${MEMORY_LIMIT}, max_file: ${FILE_LIMIT} }`;
  const members = Object.entries(own).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return [comment, ...members, limits, ''].join('\n');
}
