// On hosts that run NATS: the CA, the hosts that may connect, and the tokens for more of them. The controller changes them, the others have
// a copy.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { conflict, invalid, messageOf, notFound } from '../failures.ts';
import { createCertificate, createSigningRequest, signCertificate } from '../host/network/self-signed-certificate.ts';
import { addressOf, connectSystem, serverNameOf } from './connection.ts';
import { type ClusterFiles, CREDENTIALS, type Membership, type Registry, type TokenRecord } from './layout.ts';
import { natsConfiguration, serverIdOf } from './nats-configuration.ts';
import { areComplete, type CompleteKeys, completed, joinClaim, memberClaim, newKeys, newUser } from './nats-users.ts';
import { HOST_NAME } from './subjects.ts';
import { fingerprintOf, formatJoinLine, hashOf, newSecret } from './token.ts';

const CONFIGURATION = 'nats.conf';
const AUTHORITY_DAYS = 3650;
const CERTIFICATE_DAYS = 825;
const TOKEN_MS = 24 * 60 * 60 * 1000;
/** How long (ms) JetStream may take to agree on a new leader. */
const ELECTION_MS = 20_000;
const AGAIN_MS = 500;
const FIX = 'install openssl (apt install openssl)';

/** @throws Failure `invalid` */
export function mustBeHostName(name: string): void {
  if (HOST_NAME.test(name)) return;
  throw invalid(`--host-name: "${name}" is not possible: use letters, digits, "-" and "_", 63 at most.`);
}

/** HOST:PORT, the host an address or a name. */
export const SERVER = /^(\[[0-9a-f:]+\]|[\w.-]+):\d{1,5}$/i;

/**
 * Begins a cluster on this host.
 * @param server HOST:PORT by which other hosts reach NATS here
 */
export async function beginCluster(
  files: ClusterFiles,
  {
    cluster,
    host,
    server,
    id,
    servers = 1,
  }: { cluster: string; host: string; server: string; id: string; servers?: number },
): Promise<void> {
  mustBeHostName(host);
  await files.requireNone();
  await files.create();
  const keys = newKeys();
  const authority = await createCertificate({
    subject: `Labwire cluster ${cluster}`,
    days: AUTHORITY_DAYS,
    extensions: ['keyUsage=critical,keyCertSign,cRLSign', `nsComment=${joinClaim(keys)}`],
    directory: files.directory,
    fix: FIX,
  });
  await files.write('ca-key.pem', authority.key);
  await files.write('ca.pem', authority.certificate);
  await files.setStorage({ servers, keys, registrar: host, term: 0, revoked: [] });
  const { seed, user } = newUser();
  await files.addHost({ name: host, id, user, joined: new Date().toISOString(), server });
  const claim = memberClaim(keys, { name: host, user, server });
  const membership = { cluster, host, id, controller: true, servers: [server], server, seed, claim };
  await renewCertificate(files, membership);
  await writeConfiguration(files, membership);
  // Last: with it the host is a member.
  await files.setMembership(membership);
}

/** Begins a cluster on an existing NATS, or joins it: `controller`. */
export async function enterExisting(
  files: ClusterFiles,
  membership: Omit<Membership, 'existing'>,
  { credentials, user }: { credentials: string; user: string },
): Promise<void> {
  const { host: name, id, controller } = membership;
  await files.create();
  await files.write(CREDENTIALS, credentials);
  if (controller) await files.addHost({ name, id, user, joined: new Date().toISOString() });
  await files.setMembership({ ...membership, existing: true });
}

/** What a certificate of the cluster's CA for the NATS of one host says. Hosts compare the first name, and NATS the address of a route. */
function certificateTerms(files: ClusterFiles, cluster: string, server: string) {
  const { host } = addressOf(server);
  const address = `${/^[\d.]+$|:/.test(host) ? 'IP' : 'DNS'}:${host}`;
  return {
    subject: serverNameOf(cluster),
    days: CERTIFICATE_DAYS,
    extensions: [
      `subjectAltName=DNS:${serverNameOf(cluster)},${address}`,
      'extendedKeyUsage=serverAuth,clientAuth',
      'basicConstraints=critical,CA:FALSE',
    ],
    directory: files.directory,
    fix: FIX,
    issuer: files.authority,
  };
}

/** A new certificate for NATS; it takes effect when NATS reads its configuration. */
export async function renewCertificate(files: ClusterFiles, { cluster, server, servers }: Membership): Promise<void> {
  const { certificate, key } = await createCertificate(certificateTerms(files, cluster, server ?? servers[0] ?? ''));
  await setCertificate(files, certificate, key);
}

async function setCertificate(files: ClusterFiles, certificate: string, key: string): Promise<void> {
  await files.write('key.pem', key);
  // With the CA's, whose fingerprint is in tokens.
  await files.write('certificate.pem', certificate + (await files.authorityCertificate()));
}

/** A key for NATS on this host, and what the controller signs. */
export const requestCertificate = (files: ClusterFiles): Promise<{ request: string; key: string }> =>
  createSigningRequest(files.directory, FIX);

/**
 * Makes this host one that runs NATS: the controller has signed its certificate.
 * @param registry the copy of the controller's
 */
export async function becomeServer(
  files: ClusterFiles,
  membership: Membership,
  { certificate, key, registry }: { certificate: string; key: string; registry: Registry },
): Promise<void> {
  await setCertificate(files, certificate, key);
  await files.setRegistry(registry);
  await writeConfiguration(files, membership);
}

/** On the host that admits others. */
export async function completeKeys(files: ClusterFiles): Promise<void> {
  const storage = await files.storage();
  if (storage && !areComplete(storage.keys))
    await files.changeStorage(({ keys, ...others }) => ({ ...others, keys: completed(keys) }));
}

/** Returns whether there was another one. */
export async function writeConfiguration(files: ClusterFiles, membership: Membership): Promise<boolean> {
  const { cluster, host, servers, existing } = membership;
  // Others configure that NATS.
  if (existing) return false;
  const server = membership.server ?? servers[0] ?? '';
  const [storage, hosts] = [await files.storage(), await files.hosts()];
  // A registry of an older release: the first host completes it.
  if (!storage || !areComplete(storage.keys)) return false;
  const { keys } = storage;
  const text = natsConfiguration(files, { cluster, host, server, storage: { ...storage, keys }, hosts });
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
    throw conflict(
      `NATS cannot be signalled to read its configuration (${messageOf(error)}): run "systemctl reload labwire-nats".`,
    );
  }
}

/**
 * A line for one more host.
 * @param storage whether it is to run NATS
 * @throws Failure `conflict` if enough hosts run NATS
 */
export async function newJoinLine(
  files: ClusterFiles,
  { cluster, server, servers }: Membership,
  { lifetime = TOKEN_MS, storage = false }: { lifetime?: number; storage?: boolean } = {},
): Promise<string> {
  if (storage) await requireFreeServer(files);
  const secret = newSecret();
  const expires = new Date(Date.now() + lifetime).toISOString();
  await files.addToken(hashOf(secret), { expires, ...(storage && { storage }) });
  const fingerprint = fingerprintOf(await files.authorityCertificate());
  return formatJoinLine({ server: server ?? servers[0] ?? '', cluster, fingerprint, secret, storage });
}

/** How many hosts are to run NATS, and how many do. */
export async function serverCounts(files: ClusterFiles): Promise<{ wanted: number; found: number }> {
  const hosts = await files.hosts();
  const found = hosts.filter(({ server }) => server !== undefined).length;
  return { wanted: (await files.storage())?.servers ?? 1, found };
}

async function requireFreeServer(files: ClusterFiles): Promise<void> {
  const { wanted, found } = await serverCounts(files);
  if (found < wanted) return;
  throw conflict(
    `The cluster has all its NATS servers (${found} of ${wanted}): let the host join without --storage. How many there are is said once, with "labwired cluster init --servers".`,
  );
}

/** What a host asks with. `user` is signed, and goes into the configuration of NATS when the host is forgotten. */
const JoinRequest = v.object({
  name: v.pipe(v.string(), v.regex(HOST_NAME)),
  id: v.pipe(v.string(), v.uuid()),
  user: v.pipe(v.string(), v.regex(/^U[A-Z2-7]{55}$/)),
  cluster: v.string(),
  secret: v.string(),
  standby: v.optional(v.boolean()),
  /** Of a host that is to run NATS: where others reach it, and what is to be signed. */
  server: v.optional(v.pipe(v.string(), v.regex(SERVER))),
  request: v.optional(v.string()),
});

/**
 * Admits a host with a token, or with the credentials of an existing NATS. The same host may ask again, in case that the answer
 * was lost.
 * @returns its name, its claim as a user of the cluster's NATS, and the certificate of its own NATS if it is to run one
 * @throws Failure with the reason of a refusal; the token is unused then
 */
export async function admit(
  files: ClusterFiles,
  membership: Membership,
  asked: unknown,
): Promise<{ name: string; claim?: string; certificate?: string }> {
  const parsed = v.safeParse(JoinRequest, asked);
  if (!parsed.success) throw invalid('The request to join is damaged: use the same release on all hosts.');
  const { name, id, user, server, standby = false, request: signing } = parsed.output;
  const token = membership.existing ? undefined : await tokenOf(files, membership, parsed.output);
  const hosts = await files.hosts();
  const known = hosts.find((host) => host.name === name);
  if (known && known.user !== user)
    throw conflict(
      `There is already a host "${name}" in this cluster: choose another with --host-name, or run "labwired cluster forget ${name}" first.`,
    );
  const before = hosts.find((host) => host.user === user);
  const isOther = before && (before.name !== name || before.id !== id || (before.standby ?? false) !== standby);
  // A request can be repeated by who has learned of it.
  if (isOther || (await files.storage())?.revoked.includes(user))
    throw conflict(
      'The host with this key has joined otherwise, or was forgotten: join again with a new line of "labwired cluster token".',
    );
  const isServer = server !== undefined && signing !== undefined;
  if (isServer !== (token?.record.storage ?? false))
    throw conflict('The line was changed: copy all of it, with ".storage" at its end if it has that.');
  if (isServer && !known) await requireFreeServer(files);
  const certificate = isServer
    ? await signCertificate(signing, certificateTerms(files, membership.cluster, server))
    : undefined;
  const now = new Date().toISOString();
  if (token) await files.useToken(token.hash, { ...token.record, usedBy: user, usedAt: now });
  const host = { name, user, ...(isServer && { server }), ...(standby && { standby }) };
  await files.addHost({ ...host, id, joined: now });
  // Nothing that a NATS which runs must read: servers find each other.
  await writeConfiguration(files, membership);
  const claim = membership.existing ? undefined : memberClaim(await keysOf(files), host);
  return { name, ...(claim !== undefined && { claim }), ...(certificate !== undefined && { certificate }) };
}

/** @throws Failure `conflict` */
async function keysOf(files: ClusterFiles): Promise<CompleteKeys> {
  const { keys } = (await files.registry()).storage;
  if (areComplete(keys)) return keys;
  throw conflict(
    'The keys of this cluster are of an older release: restart labwired on the host of "labwired cluster init".',
  );
}

/** The token that lets a host in. @throws Failure `conflict` */
async function tokenOf(
  files: ClusterFiles,
  membership: Membership,
  { cluster, secret, user }: v.InferOutput<typeof JoinRequest>,
): Promise<{ hash: string; record: TokenRecord }> {
  const refuse = (reason: string): never => {
    throw conflict(reason);
  };
  if (cluster !== membership.cluster)
    refuse(`The token is of the cluster "${cluster}", this one is "${membership.cluster}".`);
  const hash = hashOf(secret);
  const fix = 'get a new one with "labwired cluster token"';
  const used = await files.token(hash, 'used-tokens');
  const isRepeated = used?.usedBy === user;
  if (used && !isRepeated) refuse(`The token was used at ${used.usedAt}: ${fix}.`);
  const record = used ?? (await files.token(hash, 'tokens'));
  if (!record) return refuse(`The token is not known here: ${fix}.`);
  if (!isRepeated && Date.parse(record.expires) < Date.now()) refuse(`The token expired at ${record.expires}: ${fix}.`);
  return { hash, record };
}

/** Takes a host out of the cluster: it cannot connect any more. @throws Failure `not-found`, `conflict` */
export async function forgetHost(files: ClusterFiles, membership: Membership, name: string): Promise<boolean> {
  if (name === membership.host)
    throw conflict(
      `"${name}" is the controller, which cannot be forgotten: end the cluster with "labwired cluster leave".`,
    );
  const hosts = await files.hosts();
  const host = hosts.find((known) => known.name === name);
  if (!host) {
    throw notFound(
      `There is no host "${name}" in this cluster; there are ${hosts.map((known) => known.name).join(', ')}.`,
    );
  }
  const { user, server } = host;
  if (server !== undefined) await removeServer(files, membership, serverIdOf(membership.cluster, name));
  // First: after a crash in between the host can be forgotten again.
  await files.changeStorage(({ revoked, keys, ...storage }) => ({
    ...storage,
    keys: completed(keys),
    revoked: [...new Set([...revoked, user])],
  }));
  await files.removeHost(name);
  await writeConfiguration(files, membership);
  return reloadNats(files);
}

/** Makes this host the one that admits others, in the place of one that is gone. */
export async function becomeRegistrar(files: ClusterFiles, membership: Membership): Promise<Membership> {
  await files.changeStorage((storage) => ({ ...storage, registrar: membership.host, term: storage.term + 1 }));
  const registrar = { ...membership, controller: true };
  await files.setMembership(registrar);
  return registrar;
}

/** Takes a NATS out of JetStream, which would count on it for a majority. */
async function removeServer(files: ClusterFiles, membership: Membership, peer: string): Promise<void> {
  const deadline = performance.now() + ELECTION_MS;
  for (;;) {
    try {
      await using system = await connectSystem(files, membership);
      const answer = await system.nats.request('$JS.API.SERVER.REMOVE', JSON.stringify({ peer }), { timeout: 3_000 });
      const { error } = answer.json<{ error?: { description: string } }>();
      // One that never took part is unknown.
      if (!error || /not found|not a member/i.test(error.description)) return;
      throw new Error(error.description);
    } catch (error) {
      if (performance.now() < deadline) {
        await sleep(AGAIN_MS);
        continue;
      }
      throw conflict(
        `JetStream still counts on the NATS of this host (${messageOf(error)}): run the command again when most of the others run.`,
      );
    }
  }
}
