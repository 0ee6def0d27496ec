// What `labwired doctor` says of the cluster that this host is in. Changes nothing.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../failures.ts';
import { commands, missing, ok, type Verdict, warning } from '../host/values/check-result.ts';
import { connectMember } from './connection.ts';
import { ClusterFiles, type Membership } from './layout.ts';
import { readLeases } from './leases.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Days before the end of the certificate on which it is time for a new one. */
const RENEWAL_DAYS = 30;
const CONNECT_MS = 3_000;

/** @param configured `name` of section `[Cluster]` */
export async function examineCluster(state: string, configured: string): Promise<Verdict> {
  const files = new ClusterFiles(state);
  let membership: Membership;
  try {
    membership = await files.member();
  } catch (error) {
    return missing(messageOf(error), 'join a cluster, or remove [Cluster] from the configuration');
  }
  const { cluster, controller, host } = membership;
  if (configured !== '' && configured !== cluster)
    return missing(
      `[Cluster] name = ${configured}, but this host is in the cluster "${cluster}": the server does not start`,
      'correct the name, or remove it',
    );
  const days = await certificateDays(files);
  if (days !== undefined && days < RENEWAL_DAYS) {
    const detail = days < 0 ? 'has expired: no host can connect' : `expires in ${Math.floor(days)} days`;
    return (days < 0 ? missing : warning)(`the certificate of NATS ${detail}`, commands('labwired cluster renew'));
  }
  try {
    const nats = await connectMember(files, membership, { reconnect: false, timeout: CONNECT_MS });
    try {
      const names = (await readLeases(nats)).map(({ name }) => name);
      const count = `${names.length} ${names.length === 1 ? 'host holds' : 'hosts hold'} a lease`;
      const found = `${cluster}, as ${host}${controller ? ' (the host of "init")' : ''}; ${count}`;
      if (names.includes(host)) return ok(found);
      return warning(`${found}, but not this one: see the log of its server`, commands('systemctl restart labwired'));
    } finally {
      await nats.close();
    }
  } catch (error) {
    return warning(
      messageOf(error),
      membership.existing
        ? 'compare the address and the credentials with that NATS'
        : controller
          ? commands('systemctl restart labwire-nats')
          : 'see labwired doctor on the host of "init"',
    );
  }
}

/** Undefined without a certificate. */
async function certificateDays(files: ClusterFiles): Promise<number | undefined> {
  const text = await readFile(files.path('certificate.pem')).catch(() => undefined);
  return text && (new X509Certificate(text).validToDate.getTime() - Date.now()) / DAY_MS;
}
