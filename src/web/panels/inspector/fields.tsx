// Small fields of the inspector: what is typed holds once the field is left, and Escape takes it back. A refused choice goes back by itself.
import { useSignal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { useEffect } from 'preact/hooks';

interface FieldProps<T> {
  label: string;
  value: T;
  /** Sends it; whether the server has taken it. */
  change: (value: T) => Promise<boolean>;
}

type Typing = TargetedEvent<HTMLInputElement | HTMLTextAreaElement>;

interface Draft {
  text: string;
  state: 'typed' | 'sent' | 'refused';
}

/**
 * What somebody types in a field, which no event of the server may take away: it stays until it is sent, or Escape is pressed. What was sent is
 * shown until the server tells another value. What was refused stays, too, and is sent again by Enter or by leaving the field again.
 */
export function useDraft(value: string, send: (text: string) => Promise<boolean>) {
  const draft = useSignal<Draft | undefined>(undefined);
  useEffect(() => {
    if (draft.value?.state === 'sent') draft.value = undefined;
  }, [draft, value]);
  const keep = (text: string): void => {
    const sent: Draft = { text, state: 'sent' };
    draft.value = sent;
    void send(text).then((isTaken) => {
      if (!isTaken && draft.peek() === sent) draft.value = { text, state: 'refused' };
    });
  };
  const again = (): void => {
    if (draft.value?.state === 'refused') keep(draft.value.text);
  };
  return {
    attributes: {
      value: draft.value?.text ?? value,
      onInput: ({ currentTarget }: Typing): void => {
        draft.value = { text: currentTarget.value, state: 'typed' };
      },
      onBlur: again,
      onKeyDown: (event: KeyboardEvent): void => {
        const field = event.currentTarget as HTMLInputElement | HTMLTextAreaElement;
        if (event.key === 'Enter' && field.tagName === 'INPUT') again();
        if (event.key !== 'Escape' || !draft.value || draft.value.state === 'sent') return;
        // This is what was left; the next one leaves the field's surroundings.
        event.stopPropagation();
        field.value = value;
        draft.value = undefined;
      },
    },
    /** The text is on its way to the server. */
    keep,
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
  const { attributes, keep, drop } = useDraft(String(value), (text) => change(Number(text)));
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
            keep(currentTarget.value);
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
  const { attributes, keep, drop } = useDraft(value, change);
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
          keep(text);
        }}
      />
    </label>
  );
}

/** A colour as `#rrggbb`; any other one is shown as black until it is changed. */
export function ColourField({ label, value, change }: FieldProps<string>) {
  const { attributes, keep } = useDraft(/^#[\da-f]{6}$/i.test(value) ? value : '#000000', change);
  return (
    <label>
      {label}
      <input type="color" {...attributes} onChange={({ currentTarget }) => keep(currentTarget.value)} />
    </label>
  );
}

export function CheckField({ label, value, change }: FieldProps<boolean>) {
  return (
    <label>
      {label}
      <input
        type="checkbox"
        checked={value}
        onChange={async ({ currentTarget }) => {
          if (!(await change(currentTarget.checked))) currentTarget.checked = value;
        }}
      />
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
      <select
        value={value}
        onChange={async ({ currentTarget }) => {
          if (!(await change(currentTarget.value))) currentTarget.value = value;
        }}
      >
        {Object.entries(choices).map(([choice, words]) => (
          <option key={choice} value={choice}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
