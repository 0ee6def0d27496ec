// Selections of one value.
import type { Signal } from '@preact/signals';
import { storeIn } from '../model/browser/signal-handlers.ts';

/** Values with their labels. */
type Choices = readonly (readonly [value: string, shown: string])[];

interface ChoiceProps {
  label: string;
  /** Label for no selection; without it a value is always selected. */
  all?: string;
  chosen: Signal<string>;
  choices: Choices;
  hidden?: boolean;
}

export function Choice({ label, all, chosen, choices, hidden }: ChoiceProps) {
  return (
    <label hidden={hidden}>
      {label}{' '}
      <select value={chosen.value} onChange={storeIn(chosen)}>
        {all !== undefined && <option value="">{all}</option>}
        <Options of={choices} />
      </select>
    </label>
  );
}

/** @param chosen the value that is selected at first, unless the element has one */
export function Options({ of, chosen }: { of: Choices; chosen?: string }) {
  return of.map(([value, shown]) => (
    <option key={value} value={value} selected={chosen === undefined ? undefined : value === chosen}>
      {shown}
    </option>
  ));
}
