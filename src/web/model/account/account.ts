// The logged-in account, if the server has accounts. Read once, because another account means another page.
import { signal } from '@preact/signals';
import { api } from '../server/api.ts';
import { sentenceOf } from '../server/sentence.ts';

export interface AccountObject {
  /** Whether this server requires a login. */
  login: boolean;
  /** Whether there are other accounts. */
  others: boolean;
  name: string | null;
  role: 'admin' | 'user' | 'observer' | 'none';
}

/** Rights on a lab. */
export type Access = 'none' | 'watch' | 'change';

export interface SharingObject {
  /** Null if the lab has no owner. */
  owner: string | null;
  everybody: Access;
  accounts: Record<string, Access>;
  groups: Record<string, Access>;
  may_share: boolean;
}

/** Undefined until it is read. */
export const account = signal<AccountObject | undefined>(undefined);

/** Why it could not be read. */
export const accountProblem = signal('');

let asked: Promise<void> | undefined;

/** Retries until the server answers, on each call. */
export function readAccount(): Promise<void> {
  asked ??= api.get<AccountObject>('/account').then(
    (read) => {
      account.value = read;
      accountProblem.value = '';
    },
    (error: unknown) => {
      asked = undefined;
      accountProblem.value = sentenceOf(error);
    },
  );
  return asked;
}
