// Small fields of the inspector. Input is saved when the field is left; Escape discards it. A rejected choice is reset.
import { useSignal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { useEffect } from 'preact/hooks';
import { Options } from '../choice.tsx';

interface FieldProps<T> {
  label: string;
  value: T;
  /** Sends the value; resolves to whether the server accepted it. */
  change: (value: T) => Promise<boolean>;
}

type Typing = TargetedEvent<HTMLInputElement | HTMLTextAreaElement>;

interface Draft {
  text: string;
  state: 'typed' | 'sent' | 'refused';
}

/**
 * Input in a field, which events of the server do not overwrite: it stays until sent or until Escape is pressed. The sent value is shown
 * until the server reports another one. Rejected input stays as well and is sent again by Enter or by leaving the field again.
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
        // Escape was used for this field; only the next one leaves its panel.
        event.stopPropagation();
        field.value = value;
        draft.value = undefined;
      },
    },
    /** The text is being sent. */
    keep,
    /** Discards the input and shows the present value. */
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

/** A line of text; empty input changes nothing. */
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

/** A colour as `#rrggbb`; any other value is shown as black until changed. */
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
  /** Labels by value. */
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
        <Options of={Object.entries(choices)} />
      </select>
    </label>
  );
}
