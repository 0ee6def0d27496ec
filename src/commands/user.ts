// `labwired user`: manages the accounts of a shared host in the state directory. A running server sees changes at its next request.
import type { Config } from '../config/schema.ts';
import { Failure } from '../failures.ts';
import { fileFailure } from '../host/files/atomic-file.ts';
import { closeToOthers, makeDirectory } from '../host/files/directories.ts';
import { readRegularFile } from '../host/files/regular-file.ts';
import { askSecret } from '../host/terminal/ask-secret.ts';
import { harmless, jsonText } from '../host/terminal/terminal-text.ts';
import { accountsOf } from '../start/access.ts';
import { randomPassword } from '../store/account.ts';
import type { AccountsFile } from '../store/accounts.ts';
import { ROLES, type Role } from '../store/roles.ts';
import { callerName, noteCommand } from './audit-entry.ts';
import { becomeOwner } from './state-owner.ts';
import { WrongUsage } from './wrong-usage.ts';

export interface UserCommand {
  /** The verb and an account name, already checked. */
  words: readonly string[];
  role?: string | undefined;
  passwordFile?: string | undefined;
  generate: boolean;
  json: boolean;
}

/** Bytes of a file with a password, at most. */
const LARGEST_FILE_BYTES = 64 * 1024;

interface Host {
  file: AccountsFile;
  /** Name of the account of the configuration, or of `account.json`. */
  name: string | undefined;
  state: string;
  /** Directory of the labs. */
  projects: string;
  /** The calling system user. */
  caller: string;
}

/**
 * Runs the subcommand and returns the output.
 * @param sudoUser the user who called sudo
 */
export async function userCommand(config: Config, command: UserCommand, sudoUser?: string): Promise<string> {
  const { state } = config;
  const [verb = '', name = ''] = command.words;
  const act = VERBS[verb];
  if (act === undefined) throw new WrongUsage(`There is no "labwired user ${verb}". See labwired user --help`);
  if (command.role !== undefined) roleOf(command.role);
  // Read before root switches users, as the file may be readable for root only.
  const fromFile = command.passwordFile === undefined ? undefined : await passwordIn(command.passwordFile);
  const caller = callerName(sudoUser);
  await makeDirectory(state, state);
  await becomeOwner(state);
  const { file, hostName } = accountsOf(config);
  const host = { file, name: await hostName(), state, projects: config.Server.projects_path, caller };
  return act(host, name, { ...command, fromFile });
}

type Given = UserCommand & { fromFile: string | undefined };

const VERBS: Readonly<Record<string, (host: Host, name: string, given: Given) => Promise<string>>> = {
  async add(host, name, given) {
    const role = roleOf(given.role ?? 'user');
    const { password, said } = await newPassword(given);
    const others = host.name === undefined ? [] : [host.name];
    const account = await host.file.add({ name, role, password }, others);
    await closeToOthers(host.state, host.projects);
    await note(host, 'add', account.name, role);
    return `The account ${account.name} (${role}) was added${said}.\n`;
  },

  async remove(host, name) {
    const account = await host.file.remove(name, requireNotHost(host, name));
    await note(host, 'remove', account.name);
    return `The account ${account.name} was removed, with its tokens. Its labs are there; admins see them.\n`;
  },

  async password(host, name, given) {
    const hasOther = requireNotHost(host, name);
    const { password, said } = await newPassword(given);
    const account = await host.file.update(name, { password }, hasOther);
    await note(host, 'password', account.name);
    return `The password of ${account.name} was changed${said}.\n`;
  },

  async role(host, name, { role: given = '' }) {
    const role = roleOf(given);
    const account = await host.file.update(name, { role }, requireNotHost(host, name));
    await note(host, 'role', account.name, role);
    return `${account.name} is ${role} now.\n`;
  },

  async list(host, _name, { json }) {
    const { accounts } = await host.file.read();
    const own = host.name === undefined ? [] : [{ name: host.name, role: 'admin', created: null }];
    const all = [...own, ...accounts.map((one) => ({ name: one.name, role: one.role, created: one.created }))];
    if (json) return `${jsonText(all, 2)}\n`;
    if (all.length === 0) return 'There are no accounts.\n';
    return all
      .map(({ name, role, created }) => `${role.padEnd(9)} ${created ?? 'of this host        '}  ${harmless(name)}\n`)
      .join('');
  },
};

function roleOf(text: string): Role {
  const role = ROLES.find((one) => one === text);
  if (role === undefined) throw new WrongUsage(`--role ${JSON.stringify(text)}: use ${ROLES.join(', ')}.`);
  return role;
}

/**
 * @returns whether there is another admin besides those in the file
 * @throws Failure for the host's own account
 */
function requireNotHost(host: Host, name: string): boolean {
  if (host.name !== undefined && host.name === name)
    throw new Failure(
      'conflict',
      `${name} is the account of this host: change it with labwired password, or in [Server].`,
    );
  return host.name !== undefined;
}

async function newPassword({ generate, fromFile }: Given): Promise<{ password: string; said: string }> {
  if (generate) {
    const password = randomPassword();
    return { password, said: `, password ${password}` };
  }
  if (fromFile !== undefined) return { password: fromFile, said: '' };
  const password = await askSecret('New password: ');
  if (process.stdin.isTTY && (await askSecret('The same again: ')) !== password)
    throw new Failure('invalid', 'The passwords differ; nothing was changed.');
  return { password, said: '' };
}

async function passwordIn(path: string): Promise<string> {
  try {
    const [line = ''] = (await readRegularFile(path, LARGEST_FILE_BYTES)).toString().split(/\r?\n/);
    return line;
  } catch (thrown) {
    throw fileFailure(thrown, `--password-file ${path}`);
  }
}

async function note({ state, caller }: Host, verb: string, account: string, role?: Role): Promise<void> {
  await noteCommand(state, { caller, command: `user ${verb}`, objects: { account, ...(role && { role }) } });
}
