// Connections to the cluster's NATS.
import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type PeerCertificate } from 'node:tls';
import { type ConnectionOptions, connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { Failure, messageOf } from '../failures.ts';
import type { ClusterFiles, Membership } from './layout.ts';
import { inboxPrefix } from './subjects.ts';
import { fingerprintOf } from './token.ts';

/** Time limit (ms) of an attempt to connect. */
const TIMEOUT_MS = 5_000;
/** How long (ms) between attempts after a connection was lost. */
const AGAIN_MS = 500;

/** The name in the certificate of a cluster's NATS; hosts check it instead of an address, which may change. */
export const serverNameOf = (cluster: string): string => `${cluster}.labwire.internal`;

/** Splits HOST:PORT. */
export function addressOf(server: string): { host: string; port: number } {
  const at = server.lastIndexOf(':');
  return { host: server.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(server.slice(at + 1)) };
}

/** @throws Failure `conflict` with the reason */
export async function connectNats(
  server: string | string[],
  cluster: string,
  certificate: string,
  options: ConnectionOptions,
): Promise<NatsConnection> {
  const tls = { ca: certificate, servername: serverNameOf(cluster) };
  try {
    return await connect({ servers: server, tls, timeout: TIMEOUT_MS, ignoreClusterUpdates: true, ...options });
  } catch (error) {
    throw new Failure('conflict', `NATS at ${server} refuses the connection: ${reasonOf(error)}.`, { cause: error });
  }
}

/** Connects as this host, and again after each loss, for ever. */
export async function connectMember(
  files: ClusterFiles,
  membership: Membership,
  options: ConnectionOptions = {},
): Promise<NatsConnection> {
  const { servers, cluster, seed, host } = membership;
  return connectNats(servers, cluster, await files.authorityCertificate(), {
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
    inboxPrefix: inboxPrefix(host),
    name: host,
    maxReconnectAttempts: -1,
    reconnectTimeWait: AGAIN_MS,
    ...options,
  });
}

/** In words of the cluster what Node, OpenSSL or NATS say of a failed connection. */
export function reasonOf(error: unknown): string {
  const causes = [error, (error as Error | undefined)?.cause].filter((cause) => cause instanceof Error);
  const codes = causes
    .map((cause) => `${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.name} ${cause.message}`)
    .join(' ');
  if (/CERT_HAS_EXPIRED|certificate has expired/.test(codes))
    return 'its certificate has expired: run "labwired cluster renew" on the host of "init", and compare the clocks of both hosts';
  if (/CERT_NOT_YET_VALID|not yet valid/.test(codes))
    return 'its certificate is not valid yet: compare the clocks of both hosts';
  if (/ALTNAME_INVALID|altnames/.test(codes)) return 'it belongs to another cluster';
  if (/SIGNATURE|UNABLE_TO|SELF_SIGNED|self.signed|unable to/i.test(codes))
    return 'its certificate is not of the CA of this cluster';
  if (/authorization/i.test(codes)) return 'it does not know this host: it was forgotten, or never joined';
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
          new Failure(
            'conflict',
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
    throw new Failure('conflict', `NATS at ${server} cannot be reached: ${reasonOf(error)}.`, { cause: error });
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
