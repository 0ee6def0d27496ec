// On the host of `init`: the CA, the hosts that may connect, and the tokens for more of them.
import { readFile } from 'node:fs/promises';
import { nkeys } from '@nats-io/transport-node';
import * as v from 'valibot';
import { Failure, messageOf } from '../failures.ts';
import { createCertificate } from '../host/network/self-signed-certificate.ts';
import { serverNameOf } from './connection.ts';
import type { ClusterFiles, Membership } from './layout.ts';
import { natsConfiguration } from './nats-configuration.ts';
import { HOST_NAME } from './subjects.ts';
import { fingerprintOf, formatJoinLine, hashOf, newSecret } from './token.ts';

const CONFIGURATION = 'nats.conf';
const AUTHORITY_DAYS = 3650;
const CERTIFICATE_DAYS = 825;
const TOKEN_MS = 24 * 60 * 60 * 1000;
const FIX = 'install openssl (apt install openssl)';

/** @throws Failure `invalid` */
export function mustBeHostName(name: string): void {
  if (HOST_NAME.test(name)) return;
  throw new Failure('invalid', `--host-name: "${name}" is not possible: use letters, digits, "-" and "_", 63 at most.`);
}

/** A host's key as a user of NATS: the seed stays on the host. */
export function newUser(): { seed: string; user: string } {
  const pair = nkeys.createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), user: pair.getPublicKey() };
}

/**
 * Begins a cluster on this host.
 * @param server HOST:PORT by which other hosts reach NATS here
 */
export async function beginCluster(
  files: ClusterFiles,
  { cluster, host, server, id }: { cluster: string; host: string; server: string; id: string },
): Promise<void> {
  mustBeHostName(host);
  await files.requireNone();
  await files.create();
  const authority = await createCertificate({
    subject: `Labwire cluster ${cluster}`,
    days: AUTHORITY_DAYS,
    extensions: ['keyUsage=critical,keyCertSign,cRLSign'],
    directory: files.directory,
    fix: FIX,
  });
  await files.write('ca-key.pem', authority.key);
  await files.write('ca.pem', authority.certificate);
  await renewCertificate(files, cluster);
  const { seed, user } = newUser();
  await files.addHost({ name: host, id, user, joined: new Date().toISOString() });
  const membership = { cluster, host, id, controller: true, servers: [server], seed };
  await writeConfiguration(files, membership);
  // Last: with it the host is a member.
  await files.setMembership(membership);
}

/** A new certificate for NATS; it takes effect when NATS reads its configuration. */
export async function renewCertificate(files: ClusterFiles, cluster: string): Promise<void> {
  const { certificate, key } = await createCertificate({
    subject: serverNameOf(cluster),
    days: CERTIFICATE_DAYS,
    extensions: [
      `subjectAltName=DNS:${serverNameOf(cluster)}`,
      'extendedKeyUsage=serverAuth',
      'basicConstraints=critical,CA:FALSE',
    ],
    directory: files.directory,
    fix: FIX,
    issuer: files.authority,
  });
  await files.write('key.pem', key);
  // With the CA's, whose fingerprint is in tokens.
  await files.write('certificate.pem', certificate + (await files.authorityCertificate()));
}

/** Returns whether there was another one. */
export async function writeConfiguration(
  files: ClusterFiles,
  { cluster, host, servers }: Membership,
): Promise<boolean> {
  const port = servers[0]?.split(':').at(-1) ?? '4222';
  const hosts = await files.hosts();
  const text = natsConfiguration(files, { cluster, listen: `0.0.0.0:${port}`, controller: host, hosts });
  if ((await readFile(files.path(CONFIGURATION), 'utf8').catch(() => '')) === text) return false;
  await files.write(CONFIGURATION, text);
  return true;
}

/** Lets NATS read its configuration. Users that are in it no more are disconnected. False if it does not run. */
export async function reloadNats(files: ClusterFiles): Promise<boolean> {
  const pid = Number(await readFile(files.path('nats.pid'), 'utf8').catch(() => ''));
  // The pid may be of another program after a crash of NATS.
  const program = pid > 0 ? await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '') : '';
  if (program.trim() !== 'nats-server') return false;
  try {
    return process.kill(pid, 'SIGHUP');
  } catch (error) {
    throw new Failure(
      'conflict',
      `NATS cannot be signalled to read its configuration (${messageOf(error)}): run "systemctl reload labwire-nats".`,
    );
  }
}

/** A line for one more host. */
export async function newJoinLine(
  files: ClusterFiles,
  { cluster, servers }: Membership,
  lifetime = TOKEN_MS,
): Promise<string> {
  const secret = newSecret();
  await files.addToken(hashOf(secret), { expires: new Date(Date.now() + lifetime).toISOString() });
  const fingerprint = fingerprintOf(await files.authorityCertificate());
  return formatJoinLine({ server: servers[0] ?? '', cluster, fingerprint, secret });
}

/** What a host asks with. `user` goes into the configuration of NATS, which refuses all of it for one bad key. */
const JoinRequest = v.object({
  name: v.pipe(v.string(), v.regex(HOST_NAME)),
  id: v.pipe(v.string(), v.uuid()),
  user: v.pipe(v.string(), v.regex(/^U[A-Z2-7]{55}$/)),
  cluster: v.string(),
  secret: v.string(),
  standby: v.optional(v.boolean()),
});

/**
 * Admits a host with a token, and returns its name. The same host may ask again with it, in case that the answer was lost.
 * @throws Failure with the reason of a refusal; the token is unused then
 */
export async function admit(files: ClusterFiles, membership: Membership, asked: unknown): Promise<string> {
  const request = v.safeParse(JoinRequest, asked);
  if (!request.success)
    throw new Failure('invalid', 'The request to join is damaged: use the same release on all hosts.');
  const { name, id, user, cluster, secret, standby } = request.output;
  const refuse = (reason: string): never => {
    throw new Failure('conflict', reason);
  };
  if (cluster !== membership.cluster)
    refuse(`The token is of the cluster "${cluster}", this one is "${membership.cluster}".`);
  const hash = hashOf(secret);
  const fix = 'get a new one with "labwired cluster token"';
  const used = await files.token(hash, 'used-tokens');
  const isRepeated = used?.usedBy === user;
  if (used && !isRepeated) refuse(`The token was used at ${used.usedAt}: ${fix}.`);
  const token = used ?? (await files.token(hash, 'tokens'));
  if (!token) return refuse(`The token is not known here: ${fix}.`);
  if (!isRepeated && Date.parse(token.expires) < Date.now()) refuse(`The token expired at ${token.expires}: ${fix}.`);
  const known = (await files.hosts()).find((host) => host.name === name);
  if (known && known.user !== user)
    refuse(
      `There is already a host "${name}" in this cluster: choose another with --host-name, or run "labwired cluster forget ${name}" first.`,
    );
  const now = new Date().toISOString();
  await files.useToken(hash, { ...token, usedBy: user, usedAt: now });
  await files.addHost({ name, id, user, joined: now, ...(standby && { standby }) });
  await writeConfiguration(files, membership);
  return name;
}

/** Takes a host out of the cluster: it cannot connect any more. @throws Failure `not-found`, `conflict` */
export async function forgetHost(files: ClusterFiles, membership: Membership, name: string): Promise<boolean> {
  if (name === membership.host)
    throw new Failure(
      'conflict',
      `"${name}" is the controller, which cannot be forgotten: end the cluster with "labwired cluster leave".`,
    );
  const hosts = await files.hosts();
  if (!hosts.some((host) => host.name === name)) {
    throw new Failure(
      'not-found',
      `There is no host "${name}" in this cluster; there are ${hosts.map((host) => host.name).join(', ')}.`,
    );
  }
  await files.removeHost(name);
  await writeConfiguration(files, membership);
  return reloadNats(files);
}
