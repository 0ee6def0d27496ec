// The logged-in account, if the server has accounts. Read once, because another account means another page.
import { signal } from '@preact/signals';
import type { AccountObject } from '../../../api/routes/accounts.ts';
import { api } from '../server/api.ts';
import { sentenceOf } from '../server/sentence.ts';

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
