// What the screens of people share.
import { dateInWords } from '../language.ts';
import type { AccountObject } from '../model/account/account.ts';

export type RoleName = AccountObject['role'];

/** As the list of accounts has it. */
export interface Account {
  name: string;
  role: RoleName;
  /** Null: kept by the host, which has its password. */
  created: string | null;
}

export function timeText(time: string): string {
  return dateInWords(new Date(time));
}

interface NewPasswordProps {
  label: string;
  hint: string;
  /** Whose it is, for programs that keep passwords, where the form has no field for it. */
  of?: string;
}

/** The field for a password that nobody has yet. */
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
