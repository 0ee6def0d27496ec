// Who is logged in, where people log in. Read once: another account is another page.
import { signal } from '@preact/signals';
import { api } from './api.ts';

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

/** Undefined until it is known, and with a server that knows no accounts. */
export const account = signal<AccountObject | undefined>(undefined);

let asked: Promise<void> | undefined;

/** Asks once. */
export function readAccount(): Promise<void> {
  asked ??= api.get<AccountObject>('/account').then(
    (read) => {
      account.value = read;
    },
    () => {},
  );
  return asked;
}
