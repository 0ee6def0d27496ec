// `labwired cluster ...`, on the state directory of this host. Returns the output.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join as joinPath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, messageOf } from '../failures.ts';
import { tableLines } from '../host/terminal/table.ts';
import { LEFT_LABS } from '../store/state-paths.ts';
import { connectMember, connectNats, pinnedAuthority } from './connection.ts';
import { ClusterFiles, type Membership } from './layout.ts';
import { LEASE_MS, leasesOf, readLeases } from './leases.ts';
import { JOIN_USER } from './nats-configuration.ts';
import {
  beginCluster,
  forgetHost,
  mustBeHostName,
  newJoinLine,
  newUser,
  reloadNats,
  renewCertificate,
} from './registry.ts';
import { JOIN_INBOX, JOIN_SUBJECT, subjects } from './subjects.ts';
import { parseJoinLine } from './token.ts';

export interface ClusterCommand {
  verb: string;
  argument?: string | undefined;
  state: string;
  name?: string | undefined;
  address?: string | undefined;
  hostName?: string | undefined;
  json: boolean;
  /** For `join`: the host may be the controller. */
  standby?: boolean | undefined;
}

const NATS_PORT = 4222;
/** Time limit (ms) for an answer of the controller. */
const ANSWER_MS = 10_000;
/** How long (ms) until NATS has read its configuration, and how often that is tried. */
const ADMITTED_MS = 10_000;
const LOOK_MS = 200;

/** @throws Failure */
export async function clusterCommand(command: ClusterCommand): Promise<string> {
  const files = new ClusterFiles(command.state);
  switch (command.verb) {
    case 'init':
      return init(files, command);
    case 'join':
      return join(files, command);
    case 'token':
      return `${await newJoinLine(files, await controllerOf(files))}\n`;
    case 'status':
      return status(files, command.json);
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
  throw new Failure(
    'conflict',
    `This host is not the controller of the cluster "${membership.cluster}": run the command on the host of "labwired cluster init".`,
  );
}

const RESTART = 'systemctl restart labwired';

async function init(
  files: ClusterFiles,
  { name = '', address = '', hostName = hostname().split('.')[0] as string }: ClusterCommand,
): Promise<string> {
  if (!/^[a-z][a-z0-9-]{0,29}$/.test(name))
    throw new Failure(
      'invalid',
      `--name: "${name}" is not possible: use lower-case letters, digits and "-", 30 at most, beginning with a letter.`,
    );
  const server = /^\[.+\]$|^[^:]+$/.test(address) ? `${address}:${NATS_PORT}` : address;
  if (!/^(\[[0-9a-f:]+\]|[\w.-]+):\d{1,5}$/i.test(server))
    throw new Failure(
      'invalid',
      `--address: "${address}" is not possible: name the address by which other hosts reach this one, for example 192.0.2.10.`,
    );
  await beginCluster(files, { cluster: name, host: hostName, server, id: randomUUID() });
  const line = await newJoinLine(files, await files.member());
  return `The cluster "${name}" begins with this host, ${hostName}. Start its NATS, and the server again:

  systemctl enable --now labwire-nats && ${RESTART}

On one more host, within 24 hours ("labwired cluster token" prints a line for each further one):

  labwired cluster join '${line}'
`;
}

async function join(
  files: ClusterFiles,
  { argument = '', hostName = hostname().split('.')[0] as string, standby = false }: ClusterCommand,
): Promise<string> {
  const { server, cluster, fingerprint, secret } = parseJoinLine(argument);
  mustBeHostName(hostName);
  await files.requireNone();
  const authority = await pinnedAuthority(server, fingerprint);
  const { seed, user } = newUser();
  const id = randomUUID();
  const nats = await connectNats(server, cluster, authority, {
    ...JOIN_USER,
    inboxPrefix: JOIN_INBOX,
    reconnect: false,
  });
  let answer: { refused?: string };
  try {
    const request = JSON.stringify({ name: hostName, id, user, cluster, secret, standby });
    answer = (await nats.request(JOIN_SUBJECT, request, { timeout: ANSWER_MS })).json();
  } catch (error) {
    throw new Failure(
      'conflict',
      `The controller of the cluster "${cluster}" does not answer (${messageOf(error)}): start labwired on the host of "init".`,
    );
  } finally {
    await nats.close();
  }
  if (answer.refused !== undefined) throw new Failure('conflict', answer.refused);
  const membership = {
    cluster,
    host: hostName,
    id,
    controller: false,
    servers: [server],
    seed,
    ...(standby && { standby }),
  };
  await files.create();
  await files.write('ca.pem', authority);
  await files.setMembership(membership);
  await admitted(files, membership);
  const where = standby ? ', here and on the host of "init", which begins to keep the log then' : '';
  return `This host, ${hostName}, has joined the cluster "${cluster}". Start the server again${where}:

  ${RESTART}
`;
}

/** Waits until NATS knows this host. */
async function admitted(files: ClusterFiles, membership: Membership): Promise<void> {
  const deadline = performance.now() + ADMITTED_MS;
  for (;;) {
    try {
      const nats = await connectMember(files, membership, { reconnect: false });
      return await nats.close();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(LOOK_MS);
    }
  }
}

async function status(files: ClusterFiles, json: boolean): Promise<string> {
  const membership = await files.member();
  const nats = await connectMember(files, membership, { reconnect: false });
  try {
    const leases = await readLeases(await leasesOf(nats, false)).catch((error: unknown) => {
      throw new Failure(
        'conflict',
        `The cluster has no leases yet (${messageOf(error)}): start labwired on the host of "init".`,
      );
    });
    const held = new Map(leases.map((lease) => [lease.name, lease]));
    // Only the host of `init` knows those without a lease.
    const absent = (await files.hosts()).filter(({ name }) => !held.has(name)).map(({ id, name }) => ({ id, name }));
    if (json) {
      const hosts = [
        ...leases.map(({ run: _, ...lease }) => ({ ...lease, lease: true })),
        ...absent.map((host) => ({ ...host, lease: false })),
      ];
      return `${JSON.stringify({ cluster: membership.cluster, host: membership.host, controller: membership.controller, hosts }, undefined, 2)}\n`;
    }
    const headings = ['HOST', 'LEASE', 'ADDRESS', 'RELEASE', 'FREE MEMORY', 'CORES', 'KVM'];
    const rows = [
      ...leases.map((lease) => [
        lease.name,
        `${LEASE_MS / 1000} s`,
        `${lease.address}:${lease.port}`,
        lease.version,
        `${(lease.free_memory_bytes / 2 ** 30).toFixed(1)} GiB`,
        String(lease.cores),
        lease.kvm ? 'yes' : 'no',
      ]),
      ...absent.map(({ name }) => [name, 'none', '', '', '', '', '']),
    ];
    const about = `cluster ${membership.cluster}, seen from ${membership.host}${membership.controller ? ' (the controller)' : ''}`;
    return `${[about, ...tableLines(headings, rows)].join('\n')}\n`;
  } finally {
    await nats.close();
  }
}

async function forget(files: ClusterFiles, name: string): Promise<string> {
  const reloaded = await forgetHost(files, await controllerOf(files), name);
  return `${name} is forgotten${reloaded ? ' and disconnected' : '; NATS does not run here, and reads this at its next start'}.\n`;
}

async function renew(files: ClusterFiles): Promise<string> {
  const { cluster } = await controllerOf(files);
  await renewCertificate(files, cluster);
  const reloaded = await reloadNats(files);
  return `NATS has a new certificate${reloaded ? '' : ' from its next start'}; hosts stay joined.\n`;
}

async function leave(files: ClusterFiles): Promise<string> {
  const membership = await files.member();
  const { controller, host, cluster } = membership;
  let remaining = '';
  if (controller) {
    const others = (await files.hosts()).filter(({ name }) => name !== host).map(({ name }) => name);
    if (others.length > 0)
      throw new Failure(
        'conflict',
        `This host is the controller of ${others.join(', ')}: let them leave or forget them first.`,
      );
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
  return `This host has left the cluster "${cluster}".${remaining} Start the server again: ${RESTART}\n`;
}
