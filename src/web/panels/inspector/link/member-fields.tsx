// The fields of impairments: those that most links need in one row for each direction, all others folded.
import { Control } from '../../../forms/control.tsx';
import type { Field } from '../../../forms/schema.ts';
import { WORDS } from '../../../words.ts';
import { DIRECTIONS, type Direction, type ImpairmentForm, keyOf } from './impairment-form.ts';

const words = WORDS.impairments;

/** The fields of the row, by kind of impairment. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  delay: ['ms', 'jitter'],
  loss: ['percent'],
  rate: ['kbit'],
};

/** A field of one kind of impairment. */
interface Place {
  member: string;
  field: Field;
  title: string;
  unit: string;
}

function placesOf({ members }: ImpairmentForm): { usual: Place[]; others: Place[] } {
  const all = members.flatMap(({ name: member, fields }) =>
    fields.map((field) => {
      const isUsual = USUAL[member]?.includes(field.name) ?? false;
      const of = words.members[member] ?? member;
      const title = isUsual ? (words.usual[field.name] ?? of) : `${of}, ${words.fields[field.name] ?? field.label}`;
      const unit = words.units[`${member}.${field.name}`] ?? words.units[field.name] ?? '';
      // The range would not fit into the row; the server's message has it.
      const shown = { ...field, required: false, ...(isUsual && { lowest: undefined, highest: undefined }) };
      return { isUsual, place: { member, field: shown, title, unit } };
    }),
  );
  const chosen = (wanted: boolean): Place[] =>
    all.filter(({ isUsual }) => isUsual === wanted).map(({ place }) => place);
  return { usual: chosen(true), others: chosen(false) };
}

interface FieldsProps {
  /** Prefix of the labels if there are several such forms. */
  of?: string;
  form: ImpairmentForm;
  titles: Readonly<Record<Direction, string>>;
}

/** All kinds of impairments, for both directions together or for each on its own. */
export function ImpairmentFields({ of = '', form, titles }: FieldsProps) {
  const { usual, others } = placesOf(form);
  const ofOthers = (holds: (direction: Direction, member: string, field: Field) => boolean): number =>
    others.filter(({ member, field }) => DIRECTIONS.some((direction) => holds(direction, member, field))).length;
  const given = ofOthers((...place) => form.isGiven(...place));
  const refused = ofOthers((...place) => keyOf(...place) in form.problems.value);
  const rows = form.chained.value
    ? [{ direction: 'forward' as const, title: words.both }]
    : DIRECTIONS.map((direction) => ({ direction, title: titles[direction] }));
  return (
    <>
      <div class="impairment-usual" aria-hidden="true">
        {usual.map(({ title, unit }) => (
          <span key={title}>
            {title} <small>{unit}</small>
          </span>
        ))}
      </div>
      {rows.map(({ direction, title }) => (
        <fieldset key={direction} class="bare" aria-label={`${of}${title}`}>
          {!form.chained.value && <small>{title}</small>}
          <div class="impairment-usual">
            {usual.map((place) => (
              <OneField key={place.title} {...{ of, form, direction, title }} place={place} />
            ))}
          </div>
        </fieldset>
      ))}
      <label class="chain">
        <input
          type="checkbox"
          checked={!form.chained.value}
          onChange={({ currentTarget }) => form.chain(!currentTarget.checked)}
        />{' '}
        {words.each}
      </label>
      <details open={refused > 0}>
        <summary>{words.more(given)}</summary>
        {!form.chained.value && (
          <div class="impairment-row" aria-hidden="true">
            <span />
            {rows.map(({ title }) => (
              <small key={title}>{title}</small>
            ))}
          </div>
        )}
        {others.map((place) => (
          <div key={place.title} class="impairment-row">
            <span>
              {place.title} <small>{place.unit}</small>
            </span>
            {rows.map(({ direction, title }) => (
              <OneField key={direction} {...{ of, form, direction, title, place }} />
            ))}
          </div>
        ))}
      </details>
    </>
  );
}

interface OneFieldProps {
  of: string;
  form: ImpairmentForm;
  direction: Direction;
  /** Of the direction, or of both. */
  title: string;
  place: Place;
}

function OneField({ of, form, direction, title, place: { member, field, title: name } }: OneFieldProps) {
  const key = keyOf(direction, member, field);
  const problem = form.problems.value[key];
  const id = `impairment-${of}${key}`;
  const marks = {
    'aria-label': `${of}${name}, ${title}`,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-problem`,
  };
  return (
    <span data-changed={form.isTyped(direction, member, field)}>
      <Control
        id={id}
        field={field}
        typed={form.value(direction, member, field)}
        marks={marks}
        change={(typed) => form.type(direction, member, field, typed)}
      />
      <span class="problem" id={`${id}-problem`}>
        {problem}
      </span>
    </span>
  );
}
