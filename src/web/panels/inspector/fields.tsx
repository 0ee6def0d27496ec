// Small fields of the inspector: what is typed holds once the field is left, and Escape takes it back.
import { useSignal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { useEffect } from 'preact/hooks';

interface FieldProps<T> {
  label: string;
  value: T;
  change: (value: T) => void;
}

type Typing = TargetedEvent<HTMLInputElement | HTMLTextAreaElement>;

/**
 * What somebody types in a field, which no event of the server may take away: it stays until it is sent, or Escape is pressed. What was sent is
 * shown until the server tells another value.
 */
export function useDraft(value: string) {
  const draft = useSignal<{ text: string; isSent: boolean } | undefined>(undefined);
  useEffect(() => {
    if (draft.value?.isSent) draft.value = undefined;
  }, [draft, value]);
  return {
    attributes: {
      value: draft.value?.text ?? value,
      onInput: ({ currentTarget }: Typing): void => {
        draft.value = { text: currentTarget.value, isSent: false };
      },
      onKeyDown: (event: KeyboardEvent): void => {
        if (event.key !== 'Escape' || !draft.value || draft.value.isSent) return;
        // This is what was left; the next one leaves the field's surroundings.
        event.stopPropagation();
        (event.currentTarget as HTMLInputElement).value = value;
        draft.value = undefined;
      },
    },
    /** The text is on its way to the server. */
    sent: (text: string): void => {
      draft.value = { text, isSent: true };
    },
    /** It cannot be sent: the field shows again what holds. */
    drop: (): void => {
      draft.value = undefined;
    },
  };
}

interface NumberFieldProps extends FieldProps<number> {
  least?: number;
  most?: number;
  step?: number;
}

export function NumberField({ label, value, least, most, step, change }: NumberFieldProps) {
  const { attributes, sent, drop } = useDraft(String(value));
  return (
    <label>
      {label}
      <input
        type="number"
        {...attributes}
        min={least}
        max={most}
        step={step ?? 1}
        onChange={({ currentTarget }) => {
          const number = currentTarget.valueAsNumber;
          if (Number.isFinite(number) && currentTarget.validity.valid) {
            sent(currentTarget.value);
            change(number);
            return;
          }
          currentTarget.reportValidity();
          currentTarget.value = String(value);
          drop();
        }}
      />
    </label>
  );
}

/** A line of text; an empty one changes nothing. */
export function TextField({ label, value, change }: FieldProps<string>) {
  const { attributes, sent, drop } = useDraft(value);
  return (
    <label>
      {label}
      <input
        autocomplete="off"
        {...attributes}
        onChange={({ currentTarget }) => {
          const text = currentTarget.value.trim();
          if (text === '') {
            drop();
            return;
          }
          sent(text);
          change(text);
        }}
      />
    </label>
  );
}

/** A colour as `#rrggbb`; any other one is shown as black until it is changed. */
export function ColourField({ label, value, change }: FieldProps<string>) {
  const { attributes, sent } = useDraft(/^#[\da-f]{6}$/i.test(value) ? value : '#000000');
  return (
    <label>
      {label}
      <input
        type="color"
        {...attributes}
        onChange={({ currentTarget }) => {
          sent(currentTarget.value);
          change(currentTarget.value);
        }}
      />
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
