// Who gets in: the account, and the first password.
import { stat } from 'node:fs/promises';
import { messageOf } from '../failures.ts';
import { quoted } from '../host/shell-word.ts';
import { commands, missing, ok, type Verdict, warning } from '../host/verdict.ts';
import { AccountFile } from '../store/account.ts';
import type { Check, Patient } from './check.ts';

const FOR_OTHERS = 0o077;

async function isForOthers(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => undefined);
  return status !== undefined && (status.mode & FOR_OTHERS) !== 0;
}

async function examineAccount({ loaded: { config } }: Patient): Promise<Verdict | undefined> {
  const { auth, user } = config.Server;
  if (!auth) return undefined;
  if (user !== '') return ok(`${user}, as the configuration says`);
  const file = new AccountFile(config.state);
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
  for (const path of [file.path, file.initialPassword]) {
    if (await isForOthers(path))
      return warning(`${path} can be read by other users`, commands(`chmod 600 ${quoted(path)}`));
  }
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

export const account: Check = { subject: 'account', see: 'readme#security', examine: examineAccount };
