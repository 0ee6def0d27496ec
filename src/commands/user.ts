// `labwired user`: manages the accounts of a shared host in the state directory. A running server sees changes at its next request.
import { ROLES, type Role } from '../api/accounts.ts';
import type { Config } from '../config/schema.ts';
import { conflict, Failure, invalid } from '../failures.ts';
import { fileFailure } from '../host/files/atomic-file.ts';
import { closeToOthers, makeDirectory } from '../host/files/directories.ts';
import { readRegularFile } from '../host/files/regular-file.ts';
import { askSecret } from '../host/terminal/ask-secret.ts';
import { harmless, jsonText } from '../host/terminal/terminal-text.ts';
import { accountsOf } from '../start/access.ts';
import { randomPassword } from '../store/account.ts';
import type { AccountsFile } from '../store/accounts.ts';
import { callerName, noteCommand } from './audit-entry.ts';
import { becomeOwner } from './state-owner.ts';
import { WrongUsage } from './wrong-usage.ts';

export interface UserCommand {
  /** The verb and names of accounts, already checked. */
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
  const [verb = '', ...names] = command.words;
  const act = VERBS[verb];
  if (act === undefined) throw new WrongUsage(`There is no "labwired user ${verb}". See labwired user --help`);
  if (command.role !== undefined) roleOf(command.role);
  // Read before root switches users, as the file may be readable for root only.
  const fromFile = command.passwordFile === undefined ? undefined : await linesOf(command.passwordFile);
  const caller = callerName(sudoUser);
  await makeDirectory(state, state);
  await becomeOwner(state);
  const { file, hostName } = accountsOf(config);
  const host = { file, name: await hostName(), state, projects: config.Server.projects_path, caller };
  return act(host, names, { ...command, fromFile });
}

/** With the lines of `--password-file`. */
type Given = UserCommand & { fromFile: readonly string[] | undefined };

const VERBS: Readonly<Record<string, (host: Host, names: readonly string[], given: Given) => Promise<string>>> = {
  async add(host, names, given) {
    const role = roleOf(given.role ?? 'user');
    const others = host.name === undefined ? [] : [host.name];
    await host.file.mustBeFree(names, role, others);
    const wanted = (await newPasswords(names, given)).map((one) => ({ ...one, role }));
    const added = await host.file.add(wanted, others);
    await closeToOthers(host.state, host.projects);
    for (const { name } of added) await note(host, 'add', name, role);
    const shown = wanted.map(({ password, ...one }) => ({ ...one, ...(given.generate && { password }) }));
    if (given.json) return `${jsonText(shown, 2)}\n`;
    const width = Math.max(...names.map((name) => name.length));
    // A table to print and cut up.
    if (given.generate && names.length > 1)
      return wanted.map(({ name, password }) => `${name.padEnd(width)}  ${password}\n`).join('');
    const said = (password = '') => (password === '' ? '' : `, password ${password}`);
    return shown
      .map(({ name, password }) => `The account ${harmless(name)} (${role}) was added${said(password)}.\n`)
      .join('');
  },

  async remove(host, names) {
    for (const name of names) requireNotHost(host, name);
    const removed = await host.file.remove(names, host.name !== undefined);
    for (const { name } of removed) await note(host, 'remove', name);
    return removed
      .map(({ name }) => `The account ${name} was removed, with its tokens. Its labs stay; admins see them.\n`)
      .join('');
  },

  async password(host, [name = ''], given) {
    requireNotHost(host, name);
    const [{ password } = { password: '' }] = await newPasswords([name], given);
    const account = await host.file.update(name, { password }, host.name);
    await note(host, 'password', account.name);
    return `The password of ${account.name} was changed${given.generate ? `, password ${password}` : ''}.\n`;
  },

  async role(host, [name = ''], { role: given = '' }) {
    const role = roleOf(given);
    requireNotHost(host, name);
    const account = await host.file.update(name, { role }, host.name);
    await note(host, 'role', account.name, role);
    return `${account.name} is ${role} now.\n`;
  },

  lock: (host, names) => setLocked(host, names, true),
  unlock: (host, names) => setLocked(host, names, false),

  async list(host, _names, { json }) {
    const { accounts } = await host.file.read();
    const own = host.name === undefined ? [] : [{ name: host.name, role: 'admin', created: null, locked: false }];
    const all = [
      ...own,
      ...accounts.map(({ name, role, created, locked = false }) => ({ name, role, created, locked })),
    ];
    if (json) return `${jsonText(all, 2)}\n`;
    if (all.length === 0) return 'There are no accounts.\n';
    return all
      .map(({ name, role, created, locked }) => {
        const since = created ?? 'of this host        ';
        return `${role.padEnd(9)} ${since}  ${harmless(name)}${locked ? ' (locked)' : ''}\n`;
      })
      .join('');
  },
};

/**
 * Locks accounts, which can then not log in, or unlocks them.
 * @throws Failure, which names those that are done
 */
async function setLocked(host: Host, names: readonly string[], locked: boolean): Promise<string> {
  for (const name of names) requireNotHost(host, name);
  const state = locked ? 'locked' : 'unlocked';
  const done: string[] = [];
  for (const name of names) {
    const account = await host.file.update(name, { locked }, host.name).catch((thrown: unknown) => {
      if (done.length === 0 || !(thrown instanceof Failure)) throw thrown;
      const { code, message } = thrown;
      throw new Failure(code, `${message} Already ${state}: ${done.join(', ')}.`, { cause: thrown });
    });
    await note(host, locked ? 'lock' : 'unlock', account.name);
    done.push(harmless(account.name));
  }
  return done.map((name) => `The account ${name} is ${state}.\n`).join('');
}

function roleOf(text: string): Role {
  const role = ROLES.find((one) => one === text);
  if (role === undefined) throw new WrongUsage(`--role ${JSON.stringify(text)}: use ${ROLES.join(', ')}.`);
  return role;
}

/** @throws Failure for the host's own account */
function requireNotHost(host: Host, name: string): void {
  if (host.name !== undefined && host.name === name)
    throw conflict(`${name} is the account of this host: change it with labwired password, or in [Server].`);
}

/**
 * A password for each account: made, a line of the file or of standard input each, or typed.
 * @throws Failure `invalid` for a missing or mistyped one
 */
async function newPasswords(
  names: readonly string[],
  { generate, fromFile }: Given,
): Promise<{ name: string; password: string }[]> {
  if (generate) return names.map((name) => ({ name, password: randomPassword() }));
  const passwords: { name: string; password: string }[] = [];
  for (const [index, name] of names.entries()) {
    const whose = names.length > 1 ? ` for ${name}` : '';
    const password = fromFile ? (fromFile[index] ?? '') : await askSecret(`New password${whose}: `);
    if (password === '' && names.length > 1)
      throw invalid(
        `The password for ${name} is missing: give one line for each account, or --generate. Nothing was changed.`,
      );
    if (!fromFile && process.stdin.isTTY && (await askSecret('The same again: ')) !== password)
      throw invalid('The passwords differ; nothing was changed.');
    passwords.push({ name, password });
  }
  return passwords;
}

async function linesOf(path: string): Promise<string[]> {
  try {
    return (await readRegularFile(path, LARGEST_FILE_BYTES)).toString().split(/\r?\n/);
  } catch (thrown) {
    throw fileFailure(thrown, `--password-file ${path}`);
  }
}

async function note({ state, caller }: Host, verb: string, account: string, role?: Role): Promise<void> {
  await noteCommand(state, { caller, command: `user ${verb}`, objects: { account, ...(role && { role }) } });
}
