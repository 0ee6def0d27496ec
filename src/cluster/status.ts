// `labwired cluster status`: the hosts as their leases say, and which of them is the controller.
import type { NatsConnection } from '@nats-io/transport-node';
import { conflict, messageOf } from '../failures.ts';
import { tableLines } from '../host/terminal/table.ts';
import { connectMember } from './connection.ts';
import type { ClusterFiles } from './layout.ts';
import { type Lease, readLeases } from './leases.ts';
import { subjects } from './subjects.ts';

/** Time limit (ms) for an answer of the controller. */
const FOUND_MS = 2_000;

/** The host that is the controller now; null while none is. */
export async function controllerName(
  nats: NatsConnection,
  host: string,
  leases: readonly Lease[],
): Promise<string | null> {
  const run = await nats.request(subjects(host).find, '', { timeout: FOUND_MS }).then(
    (answer) => answer.string(),
    () => undefined,
  );
  return leases.find((lease) => lease.run === run)?.name ?? null;
}

function roleOf({ name, standby }: Lease, controller: string | null): string {
  if (name === controller) return 'controller';
  return standby === undefined ? '' : standby === 'ready' ? 'standby' : 'standby, not ready';
}

/** What `labwired cluster status` prints. @throws Failure `conflict` */
export async function status(files: ClusterFiles, json: boolean): Promise<string> {
  const membership = await files.member();
  const nats = await connectMember(files, membership, { reconnect: false });
  try {
    const leases = await readLeases(nats).catch((error: unknown) => {
      throw conflict(
        `The leases of the cluster cannot be read (${messageOf(error)}): start labwired on the host of "init", and most of the NATS servers.`,
      );
    });
    const held = new Map(leases.map((lease) => [lease.name, lease]));
    const controller = await controllerName(nats, membership.host, leases);
    // Only hosts that run NATS, and the one of `init`, know those without a lease.
    const absent = (await files.hosts()).filter(({ name }) => !held.has(name)).map(({ id, name }) => ({ id, name }));
    if (json) {
      const hosts = [
        ...leases.map(({ run: _, ...lease }) => ({ ...lease, lease: true })),
        ...absent.map((host) => ({ ...host, lease: false })),
      ];
      return `${JSON.stringify({ cluster: membership.cluster, host: membership.host, controller, hosts }, undefined, 2)}\n`;
    }
    const headings = ['HOST', 'ROLE', 'LEASE', 'NODES', 'ADDRESS', 'RELEASE', 'FREE MEMORY', 'CORES', 'KVM', 'NATS'];
    const rows = [
      ...leases.map((lease) => [
        lease.name,
        roleOf(lease, controller),
        lease.outside_closed ? `${lease.age_seconds} s, cut off` : `${lease.age_seconds} s`,
        lease.running_nodes === undefined ? '' : String(lease.running_nodes),
        `${lease.address}:${lease.port}`,
        lease.version,
        `${(lease.free_memory_bytes / 2 ** 30).toFixed(1)} GiB`,
        String(lease.cores),
        lease.kvm ? 'yes' : 'no',
        lease.runs_nats ? 'yes' : 'no',
      ]),
      ...absent.map(({ name }) => [name, '', 'none', ...headings.slice(3).map(() => '')]),
    ];
    const who = controller === null ? 'no host is the controller now' : `the controller is ${controller}`;
    const about = `cluster ${membership.cluster}, seen from ${membership.host}: ${who}`;
    return `${[about, ...tableLines(headings, rows)].join('\n')}\n`;
  } finally {
    await nats.close();
  }
}
