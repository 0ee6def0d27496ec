import { dateInWords } from '../language.ts';

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
