// Connections to the cluster's NATS.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import { checkServerIdentity, connect as connectTls, getCACertificates, type PeerCertificate } from 'node:tls';
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { conflict, Failure, messageOf } from '../failures.ts';
import type { ClusterFiles, Membership } from './layout.ts';
import { authenticator, systemUser } from './nats-users.ts';
import { inboxPrefix } from './subjects.ts';
import { fingerprintOf } from './token.ts';

/** Time limit (ms) of an attempt to connect. */
const TIMEOUT_MS = 5_000;
/** How long (ms) between attempts after a connection was lost. */
const AGAIN_MS = 500;
/**
 * How often (ms) both ends of a connection send a ping, and how many may have no answer. A machine that loses power is noticed within 4 s, so
 * that its clients renew their leases at another NATS before they count as absent; by the defaults of NATS it takes 6 minutes.
 */
export const PING_MS = 1_000;
export const MOST_PINGS = 3;
/** How long (ms) the client may take to send what is left to an end that is gone. With full buffers the system would try for minutes. */
const LAST_MS = 500;

/** The name in the certificate of a cluster's NATS; hosts check it instead of an address, which may change. */
export const serverNameOf = (cluster: string): string => `${cluster}.labwire.internal`;

/** Splits HOST:PORT. */
export function addressOf(server: string): { host: string; port: number } {
  const at = server.lastIndexOf(':');
  return { host: server.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(server.slice(at + 1)) };
}

/** The address of this host on the way to a server. */
export async function addressToward(server: string): Promise<string> {
  const { host, port } = addressOf(server);
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.connect(port, host);
    await once(socket, 'connect');
    return socket.address().address;
  } finally {
    socket.close();
  }
}

/** @throws Failure `conflict` with the reason */
export async function connectNats(
  server: string | string[],
  cluster: string,
  certificate: string,
  options: ConnectionOptions,
): Promise<NatsConnection> {
  const tls = { ca: certificate, servername: serverNameOf(cluster) };
  return dial({ servers: server, tls, ...options });
}

async function dial(options: ConnectionOptions, reasons = OWN_REASONS): Promise<NatsConnection> {
  try {
    return await connect({ timeout: TIMEOUT_MS, ignoreClusterUpdates: true, ...options });
  } catch (error) {
    const reason = reasonOf(error, reasons);
    throw conflict(`NATS at ${options.servers} refuses the connection: ${reason}.`, { cause: error });
  }
}

/** The client compares the certificate of a server with "localhost" if it reaches that by its address. */
function identityOf(servers: readonly string[]): typeof checkServerIdentity {
  const addresses = servers.map((server) => new URL(server).hostname.replace(/^\[|\]$/g, '')).filter(isIP);
  return (name, certificate) => {
    const names = name === 'localhost' && addresses.length > 0 ? addresses : [name];
    const problems = names.map((one) => checkServerIdentity(one, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

/** `nats://HOST[:PORT]`, or `tls://` for one that must have TLS. */
export const NATS_URL = /^(nats|tls):\/\/(\[[0-9a-f:]+\]|[\w.-]+)(:\d{1,5})?$/i;

/**
 * Connects to an existing NATS.
 * @param credentials a file of NATS with a JWT and a seed (`.creds`), or a seed (nkey)
 * @throws Failure `conflict` with the reason
 */
export async function connectExisting(
  servers: string[],
  credentials: string,
  options: ConnectionOptions,
): Promise<NatsConnection> {
  // The client wants a line end after each of them in a file, and none after a seed.
  const user = /BEGIN NATS USER JWT/.test(credentials)
    ? credsAuthenticator(new TextEncoder().encode(`${credentials.trim()}\n`))
    : nkeyAuthenticator(new TextEncoder().encode(credentials.trim()));
  // Administrators add their own CA to the system's.
  const ca = [...getCACertificates('default'), ...getCACertificates('system')].join('\n');
  const tls = { ca, checkServerIdentity: identityOf(servers) };
  const isSecure = servers.every((url) => url.toLowerCase().startsWith('tls:'));
  try {
    return await dial({ servers, authenticator: user, ...(isSecure && { tls }), ...options }, EXISTING_REASONS);
  } catch (error) {
    if (!/authorization|nkey|seed|credentials/i.test(String((error as Error).cause))) throw error;
    throw conflict(`NATS at ${servers} does not accept the credentials: give those of a user of it.`);
  }
}

/**
 * Connects as this host, and again after each loss. The connection is closed only if its other end is gone and much is left to send.
 * @param former number of former connections: each begins with another server
 */
export async function connectMember(
  files: ClusterFiles,
  membership: Membership,
  options: ConnectionOptions = {},
  former = 0,
): Promise<NatsConnection> {
  const { servers, server, host, existing } = membership;
  // Its own first: messages take the shortest way.
  const nearest = server === undefined ? servers : [server, ...servers.filter((other) => other !== server)];
  const first = former % nearest.length;
  const ordered = [...nearest.slice(first), ...nearest.slice(0, first)];
  const kept: ConnectionOptions = {
    inboxPrefix: inboxPrefix(host),
    name: host,
    maxReconnectAttempts: -1,
    reconnectTimeWait: AGAIN_MS,
    pingInterval: PING_MS,
    maxPingOut: MOST_PINGS,
    // A question that only this host listens for has no answer at once, and not after its time limit.
    noEcho: true,
    noRandomize: server !== undefined,
    ignoreClusterUpdates: false,
    ...options,
  };
  const nats = existing
    ? await connectExisting(servers, await files.credentials(), kept)
    : await connectOwn(files, { ...membership, servers: ordered }, kept);
  void closeIfStuck(nats);
  return nats;
}

/** To the cluster's own NATS. @throws Failure `conflict` with the reason */
async function connectOwn(
  files: ClusterFiles,
  { servers, cluster, seed, claim }: Membership,
  options: ConnectionOptions,
): Promise<NatsConnection> {
  if (claim === undefined)
    throw conflict(
      `The cluster "${cluster}" was begun by an older release: leave it with "labwired cluster leave", and begin it again.`,
    );
  const user = { authenticator: authenticator(claim, seed) };
  return connectNats(servers, cluster, await files.authorityCertificate(), { ...user, ...options });
}

async function closeIfStuck(nats: NatsConnection): Promise<void> {
  let closing: NodeJS.Timeout | undefined;
  for await (const { type } of nats.status()) {
    if (type === 'staleConnection') closing = setTimeout(() => void nats.close(), LAST_MS);
    else if (type === 'disconnect') clearTimeout(closing);
  }
}

/** Connects as the user that manages NATS itself; on hosts that run one. */
export async function connectSystem(
  files: ClusterFiles,
  { servers, cluster }: Membership,
): Promise<{ nats: NatsConnection } & AsyncDisposable> {
  const { keys } = (await files.registry()).storage;
  const nats = await connectNats(servers, cluster, await files.authorityCertificate(), {
    authenticator: systemUser(keys),
    reconnect: false,
  });
  return { nats, [Symbol.asyncDispose]: () => nats.close() };
}

/** What is wrong with the certificate of the cluster's own NATS. */
const OWN_REASONS = {
  expired:
    'its certificate has expired: run "labwired cluster renew" on its host, and compare the clocks of both hosts',
  name: 'it belongs to another cluster',
  signer: 'its certificate is not of the CA of this cluster',
};
const EXISTING_REASONS: typeof OWN_REASONS = {
  expired: 'its certificate has expired: its administrator renews it; compare the clocks of both hosts',
  name: 'its certificate is for another name: write that one with --nats',
  signer:
    'its certificate is not of a CA that this system trusts: add the CA (update-ca-certificates), and write tls://',
};

export const UNKNOWN_HOST =
  'it does not know this host: it was forgotten, never joined, or joined with an older release';

/** In words of the cluster what Node, OpenSSL or NATS say of a failed connection. */
function reasonOf(error: unknown, { expired, name, signer } = OWN_REASONS): string {
  const causes = [error, (error as Error | undefined)?.cause].filter((cause) => cause instanceof Error);
  const codes = causes
    .map((cause) => `${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.name} ${cause.message}`)
    .join(' ');
  if (/CERT_HAS_EXPIRED|certificate has expired/.test(codes)) return expired;
  if (/CERT_NOT_YET_VALID|not yet valid/.test(codes))
    return 'its certificate is not valid yet: compare the clocks of both hosts';
  if (/ALTNAME_INVALID|altnames/.test(codes)) return name;
  if (/SIGNATURE|UNABLE_TO|SELF_SIGNED|self.signed|unable to/i.test(codes)) return signer;
  if (/does not support 'tls'/.test(codes)) return 'it has no TLS: write nats://';
  if (/authorization/i.test(codes)) return UNKNOWN_HOST;
  if (/ECONNREFUSED|refused/.test(codes)) return 'nothing listens there: check that labwire-nats.service runs';
  if (/TIMEOUT|timeout/i.test(codes)) return 'it does not answer';
  return messageOf(error);
}

/**
 * The CA's certificate of the NATS at `server`, if its fingerprint is the pinned one. Nothing secret is sent before.
 * @throws Failure `conflict`
 */
export async function pinnedAuthority(server: string, fingerprint: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { host, port } = addressOf(server);
  const plain = connectTcp(port, host);
  plain.setTimeout(TIMEOUT_MS, () => plain.destroy(new Error('timeout')));
  plain.on('error', reject);
  plain.on('close', () => reject(new Error('the connection was closed')));
  // NATS speaks first, with one line; then both change to TLS.
  plain.once('data', () => {
    const secure = connectTls({ socket: plain, rejectUnauthorized: false }, () => {
      const chain: Buffer[] = [];
      let next: PeerCertificate | undefined = secure.getPeerCertificate(true);
      for (; next?.raw && !chain.some((known) => known.equals(next?.raw as Buffer)); next = issuerOf(next))
        chain.push(next.raw);
      const found = chain.find((raw) => fingerprintOf(raw) === fingerprint);
      if (found) resolve(pem(found));
      else
        reject(
          conflict(
            `The NATS at ${server} is not the one of the token: its CA has another fingerprint. Compare the address, or get a new token.`,
          ),
        );
      secure.destroy();
    });
    secure.on('error', reject);
  });
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw conflict(`NATS at ${server} cannot be reached: ${reasonOf(error)}.`, { cause: error });
  } finally {
    plain.destroy();
  }
}

function issuerOf(certificate: PeerCertificate): PeerCertificate | undefined {
  return (certificate as PeerCertificate & { issuerCertificate?: PeerCertificate }).issuerCertificate;
}

function pem(raw: Buffer): string {
  const lines = raw.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
