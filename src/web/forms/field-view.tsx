// A field of a form: label, input, unit, help and error.
import { useId } from 'preact/hooks';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';
import { Control } from './control.tsx';
import { ListControl } from './list-control.tsx';
import type { FormModel } from './model.ts';
import type { Field } from './schema.ts';
import { MIXED } from './values.ts';

const words = WORDS.forms;

export interface FieldViewProps {
  form: FormModel;
  field: Field;
  /** Suggestions; other text can be typed as well. */
  offers?: readonly string[];
  /** Says when a change takes effect. */
  note?: string;
}

export function FieldView({ form, field, offers = field.suggestions, note = '' }: FieldViewProps) {
  const id = useId();
  const problem = form.problems.value[field.name];
  const typed = form.shown(field);
  const isChanged = field.name in form.typed.value;
  const isMixed = !isChanged && form.isMixed(field);
  const about = [field.help, isChanged && note].filter(Boolean).join(' ');
  const marks = { 'aria-describedby': `${id}-help`, 'aria-invalid': problem !== undefined };
  if (typeof typed === 'object') {
    return (
      <fieldset class="field rows" data-field={field.name}>
        <legend>{field.label}</legend>
        {about && <small>{about}</small>}
        <ListControl form={form} field={field} rows={typed} />
        <Foreign form={form} field={field} />
      </fieldset>
    );
  }
  const control = (
    <Control
      {...{ id, field, typed, offers, marks, isMixed }}
      isRequired={field.required}
      change={(value) => form.type(field, value)}
    />
  );
  return (
    <div class={`field ${field.kind}`} data-field={field.name} data-changed={isChanged}>
      <label for={id}>
        {field.kind === 'flag' && control} {field.label}
        {field.unit && <small> {field.unit}</small>}
      </label>
      {field.kind !== 'flag' && control}
      <div id={`${id}-help`}>
        {problem !== undefined && <p class="problem">{problem}</p>}
        {about && <small>{about}</small>}
      </div>
      <Foreign form={form} field={field} />
    </div>
  );
}

/** Shown when another client changed the field that is being edited. */
function Foreign({ form, field }: { form: FormModel; field: Field }) {
  if (!(field.name in form.foreign.value)) return null;
  const theirs = form.foreign.value[field.name] ?? field.byDefault ?? '';
  return (
    <p class="foreign" role="status">
      {words.foreign(typeof theirs === 'object' || theirs === MIXED ? '' : String(theirs))}{' '}
      <Button onClick={() => form.takeForeign(field)} text={words.takeTheirs} />
    </p>
  );
}
