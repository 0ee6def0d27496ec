// Checks access: the account and first password, shared accounts, the local socket, and the audit trail.

import { lstat, stat, statfs } from 'node:fs/promises';
import { SERVICE_SOCKET } from '../config/load.ts';
import { messageOf, systemCode } from '../failures.ts';
import { ownUser } from '../host/processes/own-user.ts';
import { quoted } from '../host/terminal/shell-word.ts';
import { commands, missing, ok, type Verdict, warning } from '../host/values/check-result.ts';
import { isReachable } from '../http/access/local-socket.ts';
import { AccountFile } from '../store/account.ts';
import { AccountsFile } from '../store/accounts.ts';
import { AuditFile, LARGEST_BYTES } from '../store/audit.ts';
import type { Check, Patient } from './check.ts';
import { userName } from './directories.ts';

const FOR_OTHERS = 0o077;

const MIB = 2 ** 20;

/** Problems with the file's owner or permissions; undefined if there are none or no file. */
async function examineRights(path: string, state: string): Promise<Verdict | undefined> {
  const [file, directory] = await Promise.all([path, state].map((one) => stat(one).catch(() => undefined)));
  if (file === undefined || directory === undefined) return undefined;
  if (file.uid !== directory.uid) {
    const [its, server] = [userName(file.uid), userName(directory.uid)];
    return missing(
      `${path} belongs to ${its}: the server, which runs as ${server}, cannot use it`,
      commands(`chown --reference=${quoted(state)} ${quoted(path)}`),
    );
  }
  if ((file.mode & FOR_OTHERS) === 0) return undefined;
  return warning(`${path} can be read by other users`, commands(`chmod 600 ${quoted(path)}`));
}

async function examineAccount({ loaded: { config } }: Patient): Promise<Verdict | undefined> {
  const { auth, user, password } = config.Server;
  if (!auth) return undefined;
  if (user !== '' && password === '')
    return missing(
      `user = ${user} is set without a password: the server does not start`,
      'set password in [Server] (or LABWIRE_SERVER_PASSWORD), too, or leave out user',
    );
  if (user !== '') return ok(`${user}, as the configuration says`);
  const file = new AccountFile(config.state);
  for (const path of [file.path, file.initialPassword]) {
    const wrong = await examineRights(path, config.state);
    if (wrong) return wrong;
  }
  let account: Awaited<ReturnType<AccountFile['read']>>;
  try {
    account = await file.read();
  } catch (thrown) {
    return missing(messageOf(thrown), {
      words: `mv ${file.path} ${file.path}.old, then labwired password`,
      commands: [`mv ${quoted(file.path)} ${quoted(`${file.path}.old`)}`],
    });
  }
  if (account === undefined) return ok(`made at the first start; its password will be in ${file.initialPassword}`);
  const isFirst = await stat(file.initialPassword).then(
    () => true,
    () => false,
  );
  if (!isFirst) return ok(`${account.user}, in ${file.path}`);
  return warning(
    `the first password of ${account.user} still lies in ${file.initialPassword}`,
    'labwired password, as the user that runs the server, sets another and removes it',
  );
}

export const account: Check = { subject: 'account', see: 'security#access', examine: examineAccount };

async function examineAccounts({ loaded: { config } }: Patient): Promise<Verdict | undefined> {
  const file = new AccountsFile(config.state);
  const wrong = await examineRights(file.path, config.state);
  if (wrong) return wrong;
  try {
    const { accounts: all, tokens } = await file.read();
    if (all.length === 0) return undefined;
    const admins = all.filter(({ role }) => role === 'admin').length;
    const lasting = tokens.filter(({ expires }) => expires === null || Date.parse(expires) > Date.now()).length;
    return ok(`${all.length}, of them ${admins} admins, and ${lasting} tokens, in ${file.path}`);
  } catch (thrown) {
    return missing(
      messageOf(thrown),
      'without it no account can log in; root and the server’s user can, at the local socket',
    );
  }
}

export const accounts: Check = {
  subject: 'accounts',
  see: 'accounts#when-no-account-can-log-in',
  examine: examineAccounts,
};

async function examineAudit({ loaded: { config } }: Patient): Promise<Verdict | undefined> {
  const { path } = new AuditFile(config.state);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile())
    return warning(`${path} is not a file: changes are not recorded`, 'move it away; a new one is made');
  const wrong = await examineRights(path, config.state);
  if (wrong) return { ...wrong, state: 'warning' };
  const { bavail, bsize } = await statfs(config.state);
  const free = Math.round((bavail * bsize) / MIB);
  const detail = `${path}, ${(found.size / MIB).toFixed(1)} MiB of at most ${(2 * LARGEST_BYTES) / MIB}, ${free.toLocaleString('en')} MiB free`;
  if (free * MIB >= 2 * LARGEST_BYTES) return ok(detail);
  return warning(detail, 'free some space: changes are made all the same, but not recorded');
}

export const auditTrail: Check = { subject: 'audit trail', see: 'accounts#the-audit-trail', examine: examineAudit };

async function examineSocket({ loaded: { config }, daemon }: Patient): Promise<Verdict> {
  const { socket_path: configured } = config.Server;
  if (configured === '') return ok('none: socket_path = off');
  // For a service, systemd creates its directory.
  const status = (path: string) =>
    lstat(path).catch((error: unknown) => (systemCode(error) === 'EACCES' ? ('hidden' as const) : undefined));
  const isService = daemon !== undefined && (await status(configured)) === undefined;
  const path = isService ? SERVICE_SOCKET : configured;
  const found = await status(path);
  if (found === 'hidden') return ok(`${path}, for the server’s user and root alone`);
  if (found === undefined) {
    if (daemon === undefined) return ok(`${configured}, made when the server starts`);
    return warning(`the running labwired (pid ${daemon}) has none at ${configured}`, 'its log says why, at its start');
  }
  if (!found.isSocket())
    return warning(`${path} is there and is no socket`, 'remove it, or name another with socket_path');
  if (await isReachable(path)) {
    if ((found.mode & FOR_OTHERS) !== 0)
      return warning(`${path} can be opened by other users`, commands(`chmod 600 ${quoted(path)}`));
    return ok(`${path}, owner ${userName(found.uid)}`);
  }
  const isOthers = ![0, found.uid].includes(ownUser());
  if (isOthers) return ok(`${path}, for ${userName(found.uid)} and root alone`);
  if (daemon === undefined) return ok(`${path}, left by a server that was killed; the next one takes its place`);
  return warning(
    `no server answers at ${path}`,
    'start the server again: without it commands need address and password',
  );
}

export const localSocket: Check = { subject: 'local socket', see: 'command-line#the-server', examine: examineSocket };
