// The logged-in account, if the server has accounts. Another account means another page.
import { signal } from '@preact/signals';
import type { AccountObject } from '../../../api/routes/accounts.ts';
import { api } from '../server/api.ts';
import { sentenceOf } from '../server/sentence.ts';

/** Undefined until it is read. */
export const account = signal<AccountObject | undefined>(undefined);

/** Why it could not be read. */
export const accountProblem = signal('');

let asked: Promise<void> | undefined;

/** Reads it once; retries until the server answers, on each call. */
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

/** Reads it again, because accounts were added or removed: there may be others now. */
export function readAccountAgain(): Promise<void> {
  asked = undefined;
  return readAccount();
}
