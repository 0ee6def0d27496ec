// The HTTPS certificate: from the configuration, or from the state directory.
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { ensureSelfSigned } from '../host/network/self-signed-certificate.ts';
import { ownNames } from '../http/access/guard.ts';
import type { TlsFiles } from '../http/app/tls.ts';

/** Its files. */
export async function certificateOf({ Server, state }: Config): Promise<TlsFiles> {
  const { certfile, certkey } = Server;
  if (certfile !== '') return { certificate: certfile, key: certkey };
  return await ensureSelfSigned(join(state, 'tls'), ownHostNames(Server.host));
}

/** All names and addresses by which clients may know this host. */
function ownHostNames(host: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  const listening = ['0.0.0.0', '::'].includes(host) ? [] : [host];
  return [...new Set([...ownNames(), 'localhost', ...listening, ...addresses])];
}
