// The impairment fields of both directions, side by side.
import { useComputed } from '@preact/signals';
import { Control } from '../../../forms/control.tsx';
import type { Field } from '../../../forms/schema.ts';
import { WORDS } from '../../../words.ts';
import { DIRECTIONS, type Direction, type ImpairmentForm, keyOf, type Member } from './impairment-form.ts';

const words = WORDS.impairments;

interface FieldsProps {
  /** Prefix of the labels if there are several such forms. */
  of?: string;
  form: ImpairmentForm;
  titles: Readonly<Record<Direction, string>>;
}

/** All kinds of impairments, and the switch to change both directions together. */
export function ImpairmentFields({ of = '', form, titles }: FieldsProps) {
  return (
    <>
      <label class="chain">
        <input
          type="checkbox"
          checked={form.chained.value}
          onChange={({ currentTarget }) => {
            form.chained.value = currentTarget.checked;
          }}
        />{' '}
        {words.chain}
      </label>
      <div class="impairment-row" aria-hidden="true">
        <span />
        {DIRECTIONS.map((direction) => (
          <b key={direction}>{titles[direction]}</b>
        ))}
      </div>
      {form.members.map((member) => (
        <MemberFields key={member.name} of={of} form={form} member={member} titles={titles} />
      ))}
    </>
  );
}

function MemberFields({ of, form, member, titles }: Required<FieldsProps> & { member: Member }) {
  const used = useComputed(() => form.uses(member));
  return (
    <details open={used.value || ['rate', 'delay', 'loss'].includes(member.name)}>
      <summary>{words.members[member.name] ?? member.name}</summary>
      {member.fields.map((field) => (
        <div key={field.name} class="impairment-row">
          <span>
            {words.fields[field.name] ?? field.label}{' '}
            <small>{words.units[`${member.name}.${field.name}`] ?? words.units[field.name]}</small>
          </span>
          {DIRECTIONS.map((direction) => (
            <OneField key={direction} {...{ of, form, member, direction, field, title: titles[direction] }} />
          ))}
        </div>
      ))}
    </details>
  );
}

interface OneFieldProps {
  of: string;
  form: ImpairmentForm;
  member: Member;
  direction: Direction;
  field: Field;
  title: string;
}

function OneField({ of, form, member, direction, field, title }: OneFieldProps) {
  const key = keyOf(direction, member.name, field);
  const problem = form.problems.value[key];
  const id = `impairment-${of}${key}`;
  const label = `${of}${words.members[member.name] ?? member.name}, ${words.fields[field.name] ?? field.label}, ${title}`;
  return (
    <span data-changed={key in form.typed.value}>
      <Control
        id={id}
        field={{ ...field, required: false }}
        typed={form.value(direction, member.name, field)}
        marks={{ 'aria-label': label, 'aria-invalid': problem !== undefined, 'aria-describedby': `${id}-problem` }}
        change={(typed) => form.type(direction, member.name, field, typed)}
      />
      <span class="problem" id={`${id}-problem`}>
        {problem}
      </span>
    </span>
  );
}
