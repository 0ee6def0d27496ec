// Checks the listening address and the certificate.
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { BLOCKED_BY_BROWSERS, consoleHost } from '../compute/ports/ports.ts';
import { messageOf, systemCode } from '../failures.ts';
import { isLoopback } from '../host/network/loopback.ts';
import { quoted } from '../host/terminal/shell-word.ts';
import { commands, missing, ok, type Verdict, warning } from '../host/values/check-result.ts';
import type { Check, Patient } from './check.ts';
import { sockets } from './kernel-files.ts';

/** The error code of listening there, undefined if that works. */
function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => resolve(systemCode(error) ?? messageOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Whether the process has a listening socket on this port; undefined when its descriptors may not be seen. */
async function listens(pid: number, port: number): Promise<boolean | undefined> {
  const inodes = (sockets('tcp') ?? []).filter((row) => row.listening && row.port === port).map(({ inode }) => inode);
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => undefined);
  if (descriptors === undefined) return undefined;
  const targets = await Promise.all(descriptors.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return inodes.some((inode) => targets.includes(`socket:[${inode}]`));
}

async function taken({ loaded: { config }, daemon }: Patient): Promise<Verdict> {
  const { host, port } = config.Server;
  const other = missing(
    `port ${port} on ${host} is taken by another program`,
    `stop that one (ss -ltnp 'sport = :${port}' names it), or choose another with --port`,
  );
  if (daemon === undefined) return other;
  const own = await listens(daemon, port);
  if (own === undefined)
    return ok(`port ${port} on ${host} is taken, by all signs by the running labwired (pid ${daemon})`);
  return own ? ok(`${host} port ${port}, by the running labwired (pid ${daemon})`) : other;
}

async function examineAddress(patient: Patient): Promise<Verdict> {
  const { host, port, auth, insecure } = patient.loaded.config.Server;
  if (!auth && !insecure && !isLoopback(host)) {
    return missing(
      `${host} is open to the network without a password: the server does not start`,
      'leave out auth = false in [Server], or start with --insecure',
    );
  }
  switch (await listenError(host, port)) {
    case undefined:
      break;
    case 'EADDRINUSE':
      return await taken(patient);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return missing(`${host} is no address of this machine`, 'choose one with --host (ip address shows them)');
    case 'EACCES':
      return missing(`port ${port} may not be used by this user`, 'choose one above 1023 with --port');
    default:
      return missing(`cannot listen on ${host} port ${port}`, 'choose another address with --host and --port');
  }
  const place = port === 0 ? `${host}, any free port` : `${host} port ${port} is free`;
  if (BLOCKED_BY_BROWSERS.has(port)) {
    return warning(`${place}, but browsers refuse to connect to it`, 'choose another with --port');
  }
  if (!auth && !isLoopback(host)) {
    return warning(
      `${place}, open to the network without a password`,
      'leave out insecure, and auth = false, in [Server]',
    );
  }
  return ok(place);
}

/** The console of a virtual PC gives a shell of this host: VPCS runs what follows a `!`. */
export const consoleAccess: Check = {
  subject: 'console access',
  see: 'vpcs#who-may-use-a-console',
  examine({ loaded: { config } }) {
    const host = consoleHost(config);
    if (isLoopback(host)) return ok(`from this host alone (${host})`);
    return warning(
      `consoles listen on ${host}, have no password and let VPCS run programs of this host`,
      'leave them on loopback (host, allow_remote_console in [Server]), or keep strangers out with a firewall',
    );
  },
};

export const listenAddress: Check = { subject: 'listen address', see: 'security#access', examine: examineAddress };

const DAY_MS = 86_400_000;

export const certificate: Check = {
  subject: 'certificate',
  see: 'security#access',
  examine({ loaded: { config } }) {
    const { ssl, certfile: given } = config.Server;
    if (!ssl) return undefined;
    const own = join(config.state, 'tls');
    const [certfile, certkey] =
      given === '' ? [join(own, 'certificate.pem'), join(own, 'key.pem')] : [given, config.Server.certkey];
    if (given === '' && !existsSync(certfile))
      return ok('made by this server for itself at its first start, by openssl');
    const renew =
      given === '' ? `rm -r ${own}, then restart the server: it makes another` : 'renew it, then restart the server';
    try {
      if ((statSync(certkey).mode & 0o077) !== 0 && given === '') {
        return warning(`${certkey} can be read by other users`, commands(`chmod 600 ${quoted(certkey)}`));
      }
      const cert = readFileSync(certfile);
      createSecureContext({ cert, key: readFileSync(certkey) });
      const { subject, validTo } = new X509Certificate(cert);
      const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS);
      const detail = `${certfile} (${subject.replaceAll('\n', ', ')}), valid until ${validTo}`;
      return days < 14 ? warning(detail, renew) : ok(detail);
    } catch (thrown) {
      return missing(
        `${certfile} and ${certkey} cannot be used: ${messageOf(thrown)}`,
        'name a PEM certificate with --certfile and its key with --certkey',
      );
    }
  },
};
