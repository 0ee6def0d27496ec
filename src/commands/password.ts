// `labwired password`: changes the password of the account in the state directory.
import type { Config } from '../config/schema.ts';
import { conflict, invalid } from '../failures.ts';
import { makeDirectory } from '../host/files/directories.ts';
import { askSecret } from '../host/terminal/ask-secret.ts';
import { AccountFile, randomPassword } from '../store/account.ts';
import { callerName, noteCommand } from './audit-entry.ts';
import { becomeOwner } from './state-owner.ts';

export interface PasswordCommand {
  user?: string | undefined;
  /** Makes a random password and prints it. */
  generate: boolean;
}

/** Shorter passwords can be guessed. */
const LEAST = 8;

async function newPassword(): Promise<string> {
  const password = await askSecret('New password: ');
  if (password.length < LEAST) throw invalid(`A password has at least ${LEAST} characters; --generate makes one.`);
  if (process.stdin.isTTY && (await askSecret('The same again: ')) !== password) {
    throw invalid('The passwords differ; nothing was changed.');
  }
  return password;
}

/**
 * Sets user and password; a running server uses them at once. Returns the output.
 * @param sudoUser the user who called sudo
 */
export async function setPassword(
  { Server, state }: Config,
  { user, generate }: PasswordCommand,
  sudoUser?: string,
): Promise<string> {
  if (user !== undefined && !/^[^:\s]+$/.test(user)) {
    throw invalid(`--user ${JSON.stringify(user)}: leave out blanks and ":".`);
  }
  if (Server.user !== '') {
    throw conflict(
      `The configuration names the user ${JSON.stringify(Server.user)}, whose password it holds: change password in [Server], or leave out user and password there.`,
    );
  }
  const password = generate ? randomPassword() : await newPassword();
  const caller = callerName(sudoUser);
  await makeDirectory(state, state);
  await becomeOwner(state);
  const account = await new AccountFile(state).change(user, password);
  await noteCommand(state, { caller, command: 'password', objects: { account: account.user } });
  return generate ? `user ${account.user}, password ${password}\n` : `The password of ${account.user} was changed.\n`;
}
