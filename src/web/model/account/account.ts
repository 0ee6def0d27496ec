// Who is logged in, where people log in. Read once: another account is another page.
import { signal } from '@preact/signals';
import { api } from '../server/api.ts';
import { sentenceOf } from '../server/sentence.ts';

export interface AccountObject {
  /** Whether this server asks who one is. */
  login: boolean;
  /** Whether there are other accounts. */
  others: boolean;
  name: string | null;
  role: 'admin' | 'user' | 'observer';
}

/** What somebody may do with a lab. */
export type Access = 'none' | 'watch' | 'change';

export interface SharingObject {
  /** Null: nobody's. */
  owner: string | null;
  everybody: Access;
  accounts: Record<string, Access>;
  may_share: boolean;
}

/** Undefined until it is known. */
export const account = signal<AccountObject | undefined>(undefined);

/** Why it is not known. */
export const accountProblem = signal('');

let asked: Promise<void> | undefined;

/** Asks until there is an answer, each time that it is called. */
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
