// The input elements for values.
import { Options } from '../panels/choice.tsx';
import { WORDS } from '../words.ts';
import type { Field } from './schema.ts';

export interface ControlProps {
  id: string;
  field: Field;
  typed: string | boolean;
  offers?: readonly string[];
  isRequired?: boolean;
  /** Several nodes have different values, of which none is shown. */
  isMixed?: boolean;
  /** Attributes that connect it with its label, help and error. */
  marks?: Readonly<Record<string, string | boolean>>;
  change: (typed: string | boolean) => void;
}

export function Control({
  id,
  field,
  typed,
  offers = [],
  isRequired = false,
  isMixed = false,
  marks,
  change,
}: ControlProps) {
  const common = { id, required: isRequired, disabled: field.readOnly, ...marks };
  const onInput = (event: { currentTarget: { value: string } }): void => change(event.currentTarget.value);
  if (typeof typed === 'boolean') {
    return (
      <input
        {...common}
        required={false}
        type="checkbox"
        checked={typed}
        indeterminate={isMixed}
        onChange={({ currentTarget }) => change(currentTarget.checked)}
      />
    );
  }
  if (field.kind === 'choice') {
    const isUnset = !isMixed && (typed === '' || !(field.required || field.choices.includes('')));
    const choices = [...new Set([...(isUnset ? [''] : []), ...field.choices, ...(isMixed ? [] : [typed])])];
    return (
      <select {...common} value={isMixed ? MIXED_CHOICE : typed} onChange={onInput}>
        {isMixed && <option value={MIXED_CHOICE}>{WORDS.forms.mixed}</option>}
        <Options of={choices.map((choice) => [choice, shownChoice(choice)])} />
      </select>
    );
  }
  const isNumber = field.kind === 'integer' || field.kind === 'number';
  const placeholder = isMixed ? WORDS.forms.mixed : isNumber ? range(field) : '';
  if (field.kind === 'lines' || field.kind === 'texts') {
    return (
      <textarea {...common} placeholder={placeholder} rows={3} value={typed} spellcheck={false} onInput={onInput} />
    );
  }
  if (field.isSecret) {
    return <input {...common} type="password" autocomplete="new-password" value={typed} onInput={onInput} />;
  }
  const list = offers.length > 0 ? `${id}-offers` : undefined;
  return (
    <>
      <input
        {...common}
        {...(list && { list })}
        type="text"
        inputMode={isNumber ? (field.kind === 'integer' ? 'numeric' : 'decimal') : 'text'}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={typed}
        onInput={onInput}
      />
      {list && (
        <datalist id={list}>
          {offers.map((offer) => (
            <option key={offer} value={offer} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** No choice of a field is a space. */
const MIXED_CHOICE = ' ';

const shownChoice = (choice: string): string =>
  choice === '' ? WORDS.forms.unset : choice.replaceAll(/(?<=[a-z])_(?=[a-z])/g, ' ');

function range({ lowest, highest }: Field): string {
  return lowest !== undefined && highest !== undefined ? `${lowest}–${highest}` : '';
}
