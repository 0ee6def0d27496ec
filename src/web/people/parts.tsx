// Shared by the account screens.
import { dateInWords } from '../language.ts';
import type { AccountObject } from '../model/account/account.ts';

export type RoleName = AccountObject['role'];
export type TokenRoleName = Exclude<RoleName, 'none'>;

/** As in the list of accounts. */
export interface Account {
  name: string;
  role: RoleName;
  /** Null for an account kept by the host, which has its password. */
  created: string | null;
}

export function timeText(time: string): string {
  return dateInWords(new Date(time));
}

interface NewPasswordProps {
  label: string;
  hint: string;
  /** Account name for password managers, if the form has no field for it. */
  of?: string;
}

/** A field for a new password. */
export function NewPassword({ label, hint, of }: NewPasswordProps) {
  return (
    <>
      {of !== undefined && <input type="text" autocomplete="username" value={of} readOnly hidden />}
      <label>
        {label}
        <input type="password" name="password" required minLength={8} autocomplete="new-password" />
      </label>
      <p class="hint">{hint}</p>
    </>
  );
}
