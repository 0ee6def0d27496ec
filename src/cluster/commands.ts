// `labwired cluster ...`, on the state directory of this host. Returns the output.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join as joinPath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NatsConnection, RequestError } from '@nats-io/transport-node';
import { hostInUrl } from '../api/host-in-url.ts';
import { conflict, Failure, invalid, messageOf } from '../failures.ts';
import { findProgram } from '../host/processes/program-path.ts';
import { LEFT_LABS } from '../store/state-paths.ts';
import {
  addressOf,
  addressToward,
  connectExisting,
  connectMember,
  connectNats,
  NATS_URL,
  pinnedAuthority,
  UNKNOWN_HOST,
} from './connection.ts';
import { ClusterFiles, type Membership } from './layout.ts';
import { leasesOf, readLeases } from './leases.ts';
import { joinUser, newUser } from './nats-users.ts';
import {
  becomeRegistrar,
  becomeServer,
  beginCluster,
  enterExisting,
  forgetHost,
  mustBeHostName,
  newJoinLine,
  reloadNats,
  renewCertificate,
  requestCertificate,
  SERVER,
} from './registry.ts';
import { fetchRegistry, replacedBy } from './registry-copies.ts';
import { controllerName, status } from './status.ts';
import { JOIN_INBOX, JOIN_SUBJECT, subjects } from './subjects.ts';
import { parseJoinLine } from './token.ts';

export interface ClusterCommand {
  verb: string;
  argument?: string | undefined;
  state: string;
  name?: string | undefined;
  address?: string | undefined;
  hostName?: string | undefined;
  /** How many hosts are to run NATS. */
  servers?: string | undefined;
  /** With `token`: for a host that is to run NATS. */
  storage?: boolean | undefined;
  /** With `init` and `join`: the URL of an existing NATS, and the file that lets hosts in. */
  nats?: string | undefined;
  credentials?: string | undefined;
  json: boolean;
  /** For `join`: whether the host may be the controller; without it, whether it runs NATS, as it has all rights then. */
  standby?: boolean | undefined;
}

const NATS_PORT = 4222;
/** Time limit (ms) for an answer of the controller. */
const ANSWER_MS = 10_000;
/** How long (ms) a host may take to end its role as the controller, and another one to begin. */
const HANDED_MS = 30_000;
/** How long (ms) until NATS has read its configuration, and how often that is tried. */
const ADMITTED_MS = 10_000;
/** How long (ms) to ask a host of `init` that does not answer, and the pause in between. */
const ASKING_MS = 20_000;
const LOOK_MS = 200;

/** @throws Failure */
export async function clusterCommand(command: ClusterCommand): Promise<string> {
  const files = new ClusterFiles(command.state);
  switch (command.verb) {
    case 'init':
      return command.nats === undefined ? init(files, command) : initOnExisting(files, command, command.nats);
    case 'join':
      return command.nats === undefined ? join(files, command) : joinExisting(files, command, command.nats);
    case 'token':
      return `${await newJoinLine(files, await ownNatsOf(files), { storage: command.storage ?? false })}\n`;
    case 'status':
      return status(files, command.json);
    case 'hand-over':
      return handOver(files, command.argument);
    case 'forget':
      return forget(files, command.argument ?? '');
    case 'renew':
      return renew(files);
    default:
      return leave(files);
  }
}

/** @throws Failure `conflict` unless this is the host of `init` */
async function controllerOf(files: ClusterFiles): Promise<Membership> {
  const membership = await files.member();
  if (membership.controller) return membership;
  throw conflict(
    `This host is not the controller of the cluster "${membership.cluster}": run the command on the host of "labwired cluster init". Where another NATS runs, "labwired cluster forget" of that host replaces it when it is gone for good.`,
  );
}

/** @throws Failure `conflict` unless this is the host of `init`, and the cluster has a NATS of its own */
async function ownNatsOf(files: ClusterFiles): Promise<Membership> {
  const membership = await controllerOf(files);
  if (!membership.existing) return membership;
  throw conflict(
    `The cluster "${membership.cluster}" uses an existing NATS, which has certificates and users of its own: hosts join with "labwired cluster join --nats ${membership.servers} --credentials FILE".`,
  );
}

const ownName = (): string => hostname().split('.')[0] as string;

const START_NATS = 'systemctl enable --now labwire-nats';
const RESTART = 'systemctl restart labwired';
/** How many hosts can run NATS: an even number would bear the loss of no more of them. */
const SERVER_COUNTS = ['1', '3', '5'];

async function init(
  files: ClusterFiles,
  { name = '', address = '', hostName = ownName(), servers: wanted = '1' }: ClusterCommand,
): Promise<string> {
  mustBeClusterName(name);
  if (!SERVER_COUNTS.includes(wanted))
    throw invalid(`--servers: "${wanted}" is not possible: ${SERVER_COUNTS.join(', ')} hosts can run NATS.`);
  const [server, servers] = [serverOf(address), Number(wanted)];
  await beginCluster(files, { cluster: name, host: hostName, server, id: randomUUID(), servers });
  const storage = servers > 1;
  const line = await newJoinLine(files, await files.member(), { storage });
  const waits = `This host has the labs again when ${Math.ceil(servers / 2)} of ${servers} hosts run NATS. `;
  const more = `("labwired cluster token${storage ? ' --storage' : ''}" prints a line for each further one)`;
  return `The cluster "${name}" begins with this host, ${hostName}. Start its NATS, and the server again:

  ${START_NATS} && ${RESTART}

${storage ? waits : ''}On one more host, within 24 hours ${more}:

  labwired cluster join '${line}'
`;
}

/** @throws Failure `invalid` */
function mustBeClusterName(name: string): void {
  if (/^[a-z][a-z0-9-]{0,29}$/.test(name)) return;
  throw invalid(
    `--name: "${name}" is not possible: use lower-case letters, digits and "-", 30 at most, beginning with a letter.`,
  );
}

/** Connects to an existing NATS. @throws Failure `invalid`, `conflict` */
async function existingNats(
  files: ClusterFiles,
  { credentials: file = '', hostName }: ClusterCommand,
  url: string,
): Promise<{ nats: NatsConnection; credentials: string; host: string } & AsyncDisposable> {
  const host = hostName ?? ownName();
  mustBeHostName(host);
  if (!NATS_URL.test(url))
    throw invalid(`--nats: "${url}" is not possible: write nats://HOST:PORT, or tls://HOST:PORT.`);
  const credentials = await readFile(file, 'utf8').catch((error: unknown) => {
    throw invalid(`--credentials: ${messageOf(error)}. Name the file with the credentials of NATS.`);
  });
  await files.requireNone();
  const nats = await connectExisting([url], credentials, { inboxPrefix: JOIN_INBOX, reconnect: false });
  return { nats, credentials, host, [Symbol.asyncDispose]: () => nats.close() };
}

async function initOnExisting(files: ClusterFiles, command: ClusterCommand, url: string): Promise<string> {
  const { name = '' } = command;
  mustBeClusterName(name);
  await using found = await existingNats(files, command, url);
  const { nats, credentials, host } = found;
  await leasesOf(nats, true).catch((error: unknown) => {
    throw conflict(`NATS at ${url} refuses a bucket for leases (${messageOf(error)}): its account needs JetStream.`);
  });
  const before = await readLeases(nats);
  if (before.length > 0)
    throw conflict(
      `A cluster uses this account of NATS already (${before.map((lease) => lease.name).join(', ')}): join it with "labwired cluster join --nats ${url} --credentials FILE", or use another account.`,
    );
  const { seed, user } = newUser();
  const membership = { cluster: name, host, id: randomUUID(), controller: true, servers: [url], seed };
  await enterExisting(files, membership, { credentials, user });
  return `The cluster "${name}" begins with this host, ${host}, on the NATS at ${url}. Start the server again:

  ${RESTART}

On each further host, with the same credentials:

  labwired cluster join --nats ${url} --credentials FILE
`;
}

async function joinExisting(files: ClusterFiles, command: ClusterCommand, url: string): Promise<string> {
  await using found = await existingNats(files, command, url);
  const { nats, credentials, host } = found;
  const { seed, user } = newUser();
  const id = randomUUID();
  const { standby = false } = command;
  const { cluster = '' } = await askToJoin(nats, url, { name: host, id, user, cluster: '', secret: '', standby });
  await enterExisting(files, memberOf({ cluster, host, id, servers: [url], seed }, standby), { credentials, user });
  return `This host, ${host}, has joined the cluster "${cluster}". Start the server again${standby ? ALSO_FIRST : ''}:

  ${RESTART}
`;
}

const ALSO_FIRST = ', here and on the host of "init", which begins to keep the log then';

/** Of a host that joins. */
function memberOf(
  about: Pick<Membership, 'cluster' | 'host' | 'id' | 'servers' | 'seed' | 'claim'>,
  standby: boolean,
): Membership {
  return { ...about, controller: false, ...(standby && { standby }) };
}

interface Joined {
  claim?: string;
  refused?: string;
  certificate?: string;
  cluster?: string;
}

/** @throws Failure `conflict` with the reason of a refusal */
function askToJoin(nats: NatsConnection, where: string, request: object): Promise<Joined> {
  const ask = async (): Promise<Joined> => {
    const message = await nats.request(JOIN_SUBJECT, JSON.stringify(request), { timeout: ANSWER_MS / 2 });
    const answer = message.json<Joined>();
    if (answer.refused !== undefined) throw conflict(answer.refused);
    return answer;
  };
  return untilAnswered(nats, ask, noAnswer(where));
}

const noAnswer = (where: string) => (reason: string) =>
  `The controller of the cluster at ${where} does not answer (${reason}): start labwired on the host of "init".`;

/**
 * Asks until there is an answer: a host of `init` that takes no part at the moment does so again soon, NATS elects a leader, and an answer can
 * be lost with its connection.
 * @throws Failure
 */
async function untilAnswered<Answer>(
  nats: NatsConnection,
  ask: () => Promise<Answer>,
  explain: (reason: string) => string,
): Promise<Answer> {
  const deadline = performance.now() + ASKING_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (performance.now() < deadline && !nats.isClosed()) await sleep(LOOK_MS);
      else throw conflict(explain(messageOf(error)));
    }
  }
}

/** @throws Failure `invalid` */
function serverOf(address: string): string {
  const server = /^\[.+\]$|^[^:]+$/.test(address) ? `${address}:${NATS_PORT}` : address;
  if (SERVER.test(server)) return server;
  throw invalid(
    `--address: "${address}" is not possible: name the address by which other hosts reach this one, for example 192.0.2.10.`,
  );
}

async function join(
  files: ClusterFiles,
  { argument = '', address, hostName = ownName(), standby: wanted }: ClusterCommand,
): Promise<string> {
  const { server, cluster, fingerprint, secret, storage } = parseJoinLine(argument);
  const standby = wanted ?? storage;
  mustBeHostName(hostName);
  await files.requireNone();
  if (storage) await requireProgram('nats-server');
  const authority = await pinnedAuthority(server, fingerprint);
  const { seed, user } = newUser();
  const id = randomUUID();
  await files.create();
  const signing = storage ? await requestCertificate(files) : undefined;
  const nats = await connectNats(server, cluster, authority, {
    authenticator: joinUser(authority),
    inboxPrefix: JOIN_INBOX,
    reconnect: false,
  });
  let answer: Joined;
  let own: string | undefined;
  try {
    own = storage ? await ownServer(nats, server, address) : undefined;
    const request = { name: hostName, id, user, cluster, secret, standby, server: own, request: signing?.request };
    answer = await askToJoin(nats, server, request);
  } finally {
    await nats.close();
  }
  const { claim } = answer;
  const membership = memberOf({ cluster, host: hostName, id, servers: [server], seed, claim }, standby);
  await files.write('ca.pem', authority);
  await using member = await admitted(files, membership);
  if (own !== undefined && signing && answer.certificate !== undefined) {
    const registry = await untilAnswered(member.nats, () => fetchRegistry(member.nats, hostName), noAnswer(server));
    const { certificate } = answer;
    const withServer = { ...membership, server: own, servers: [server, own] };
    if (registry) await becomeServer(files, withServer, { certificate, key: signing.key, registry });
    await files.setMembership(withServer);
  } else await files.setMembership(membership);
  return `This host, ${hostName}, has joined the cluster "${cluster}". Start ${storage ? 'its NATS, and ' : ''}the server again${standby && !storage ? ALSO_FIRST : ''}:

  ${storage ? `${START_NATS} && ` : ''}${RESTART}
`;
}

/** @throws Failure `conflict` unless the system has it */
async function requireProgram(name: string): Promise<void> {
  if (await findProgram(name)) return;
  throw conflict(
    `This host is to run NATS, and has no ${name}: install it (apt install ${name}), or join with a line of "labwired cluster token" without --storage.`,
  );
}

/** HOST:PORT of the NATS that this host is to run. */
async function ownServer(nats: NatsConnection, server: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return serverOf(given);
  const [here, seen] = [await addressToward(server), nats.info?.client_ip];
  if (here !== seen)
    throw conflict(
      `This host is behind a masquerade (${here}, seen as ${seen}), where others do not reach a NATS: join with a line of "labwired cluster token" without --storage, or name its address with --address.`,
    );
  return `${hostInUrl(here)}:${addressOf(server).port}`;
}

/** A connection as this host, once NATS knows it, and has read its configuration. */
async function admitted(
  files: ClusterFiles,
  membership: Membership,
): Promise<{ nats: NatsConnection } & AsyncDisposable> {
  const deadline = performance.now() + ADMITTED_MS;
  for (;;) {
    try {
      const nats = await connectMember(files, membership, { reconnect: false });
      return { nats, [Symbol.asyncDispose]: () => nats.close() };
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(LOOK_MS);
    }
  }
}

/** Lets another host be the controller. */
async function handOver(files: ClusterFiles, to: string | undefined): Promise<string> {
  const membership = await files.member();
  const { host, controller, standby, server, existing } = membership;
  if (!(controller || standby || server !== undefined || existing))
    throw conflict(
      'This host may not hand the role of the controller over: run the command on the host of "init", or on one that joined with --standby or --storage.',
    );
  const nats = await connectMember(files, membership, { reconnect: false });
  try {
    const asked = nats.request(subjects(host).handOver, to ?? '', { timeout: HANDED_MS });
    const { refused, name } = await asked.then(
      (message) => message.json<{ refused?: string; name?: string }>(),
      (error: unknown) => ({
        refused: `The controller does not answer (${messageOf(error)}): see labwired cluster status.`,
        name: undefined,
      }),
    );
    if (refused !== undefined) throw conflict(refused);
    const deadline = performance.now() + HANDED_MS;
    while ((await controllerName(nats, host, await readLeases(nats))) !== name) {
      if (performance.now() > deadline)
        throw conflict(`${name} does not begin as the controller: see its log, and labwired cluster status.`);
      await sleep(LOOK_MS);
    }
    return `${name} is the controller now.\n`;
  } finally {
    await nats.close();
  }
}

async function forget(files: ClusterFiles, name: string): Promise<string> {
  const storage = await files.storage();
  const isFirst = storage !== undefined && storage.registrar === name;
  const membership = isFirst ? await replacing(files, name) : await controllerOf(files);
  const reloaded = await forgetHost(files, membership, name);
  if (membership.existing)
    return `${name} is forgotten. It still has the credentials of NATS: change them if the host is not yours any more.\n`;
  const replaced = isFirst ? `This host admits hosts from now on: ${RESTART}.\n` : '';
  return `${replaced}${name} is forgotten${reloaded ? ' and disconnected' : '; NATS does not run here, and reads this at its next start'}.\n`;
}

/** Makes this host the one that admits others, if the one that did is gone. @throws Failure `conflict` */
async function replacing(files: ClusterFiles, name: string): Promise<Membership> {
  const membership = await files.member();
  // Another message says why it cannot be forgotten.
  if (membership.controller) return membership;
  await using member = await admitted(files, membership);
  await mustBeGone(member.nats, name);
  let registrar: string;
  try {
    const registry = await fetchRegistry(member.nats, membership.host);
    registrar = registry?.storage.registrar ?? name;
  } catch (error) {
    // NATS says for certain that no host listens there.
    if (error instanceof RequestError && error.isNoResponders()) return becomeRegistrar(files, membership);
    throw conflict(
      `${name} is connected to NATS, and does not answer (${messageOf(error)}): stop its server first. If the host is dead, try again in 10 seconds, when NATS has noticed that.`,
    );
  }
  throw conflict(
    registrar === name
      ? `${name} is there, and admits hosts: stop its server first. Another host replaces it when it is gone for good.`
      : `${registrar} admits hosts in the place of ${name}: run the command there.`,
  );
}

/**
 * Asks most of the NATS servers: a host on the other side of a cut network may be there for all others.
 * @throws Failure `conflict`
 */
async function mustBeGone(nats: NatsConnection, name: string): Promise<void> {
  const leases = await untilAnswered(
    nats,
    () => readLeases(nats),
    (reason) =>
      `Whether ${name} is gone cannot be known: most of the NATS servers must run and reach each other (${reason}). This host may be the one that is cut off.`,
  );
  const lease = leases.find((one) => one.name === name);
  if (lease)
    throw conflict(
      `${name} is there: its lease was renewed ${lease.age_seconds} s before the newest one. Stop its server first, and try again some seconds later.`,
    );
}

async function renew(files: ClusterFiles): Promise<string> {
  const membership = await files.member();
  if (membership.server === undefined)
    throw conflict('This host runs no NATS, and needs no certificate: run the command on one that does.');
  await renewCertificate(files, membership);
  const reloaded = await reloadNats(files);
  return `NATS has a new certificate${reloaded ? '' : ' from its next start'}; hosts stay joined.\n`;
}

/** Whether another host admits hosts in the place of this one, which is known to the cluster no more. */
async function isReplaced(files: ClusterFiles, membership: Membership): Promise<boolean> {
  if (membership.existing) return false;
  try {
    await using member = await admitted(files, membership);
    return (await replacedBy(member.nats, files, membership.host)) !== undefined;
  } catch (error) {
    // Its claim has been refused for a while: NATS refuses all for a moment when it reads its configuration.
    return messageOf(error).includes(UNKNOWN_HOST);
  }
}

async function leave(files: ClusterFiles): Promise<string> {
  const membership = await files.member();
  const { host, cluster, server } = membership;
  const others = (await files.hosts()).filter(({ name }) => name !== host).map(({ name }) => name);
  const controller = membership.controller && (others.length === 0 || !(await isReplaced(files, membership)));
  let remaining = '';
  if (controller) {
    if (others.length > 0)
      throw conflict(`This host is the controller of ${others.join(', ')}: let them leave or forget them first.`);
  } else {
    try {
      const nats = await connectMember(files, membership, { reconnect: false });
      await nats.request(subjects(host).leave, '', { timeout: ANSWER_MS }).finally(() => nats.close());
    } catch (error) {
      remaining = ` The controller does not answer (${messageOf(error)}): run "labwired cluster forget ${host}" there.`;
    }
  }
  // The labs stay on the host where the cluster began; its server takes them over at its next start.
  if (controller && existsSync(files.path('replica')))
    await rename(files.path('replica'), joinPath(files.directory, '..', LEFT_LABS));
  await rm(files.directory, { recursive: true, force: true });
  const ending = server === undefined ? '' : 'systemctl disable --now labwire-nats && ';
  return `This host has left the cluster "${cluster}".${remaining} Start the server again: ${ending}${RESTART}\n`;
}
