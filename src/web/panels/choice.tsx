// A choice of one among several, which narrows what is shown.
import type { Signal } from '@preact/signals';

interface ChoiceProps {
  label: string;
  /** What stands for no choice; without it there is always one. */
  all?: string;
  chosen: Signal<string>;
  /** Values, with what is shown for them. */
  choices: readonly (readonly [value: string, shown: string])[];
}

export function Choice({ label, all, chosen, choices }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select
        value={chosen.value}
        onChange={({ currentTarget }) => {
          chosen.value = currentTarget.value;
        }}
      >
        {all !== undefined && <option value="">{all}</option>}
        {choices.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}
