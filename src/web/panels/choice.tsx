// A selection of one value that filters a list.
import type { Signal } from '@preact/signals';

interface ChoiceProps {
  label: string;
  /** Label for no selection; without it a value is always selected. */
  all?: string;
  chosen: Signal<string>;
  /** Values with their labels. */
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
