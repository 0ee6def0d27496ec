// Small fields of the inspector: what is typed holds once the field is left.
interface FieldProps<T> {
  label: string;
  value: T;
  change: (value: T) => void;
}

interface NumberFieldProps extends FieldProps<number> {
  least?: number;
  most?: number;
  step?: number;
}

export function NumberField({ label, value, least, most, step, change }: NumberFieldProps) {
  return (
    <label>
      {label}
      <input
        type="number"
        value={value}
        min={least}
        max={most}
        step={step ?? 1}
        onChange={({ currentTarget }) => {
          const number = currentTarget.valueAsNumber;
          if (Number.isFinite(number) && currentTarget.validity.valid) change(number);
          else if (!currentTarget.reportValidity()) currentTarget.value = String(value);
        }}
      />
    </label>
  );
}

/** A colour as `#rrggbb`; any other one is shown as black until it is changed. */
export function ColourField({ label, value, change }: FieldProps<string>) {
  const plain = /^#[\da-f]{6}$/i.test(value) ? value : '#000000';
  return (
    <label>
      {label}
      <input type="color" value={plain} onChange={({ currentTarget }) => change(currentTarget.value)} />
    </label>
  );
}

export function CheckField({ label, value, change }: FieldProps<boolean>) {
  return (
    <label>
      {label}
      <input type="checkbox" checked={value} onChange={({ currentTarget }) => change(currentTarget.checked)} />
    </label>
  );
}

interface ChoiceFieldProps extends FieldProps<string> {
  /** Words by value. */
  choices: Readonly<Record<string, string>>;
}

export function ChoiceField({ label, value, choices, change }: ChoiceFieldProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {Object.entries(choices).map(([choice, words]) => (
          <option key={choice} value={choice}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
