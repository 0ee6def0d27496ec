// Conversion between the input of fields and values.
import { type Field, isWanted } from './schema.ts';

/** The input of a field: text, a flag, or rows. */
export type Typed = string | boolean | readonly TypedRow[];
export type TypedRow = Readonly<Record<string, string>>;

export type Parsed = { value: unknown } | { problems: Record<string, string> };

/** Messages for invalid values. */
export interface ProblemWords {
  needed: string;
  integer: string;
  number: string;
  pattern: string;
  range(lowest: number | undefined, highest: number | undefined): string;
}

/** The value of a setting that several nodes have with different values. */
export const MIXED = Symbol('mixed');

/** The value as the field shows it; of differing ones none. */
export function typedOf(field: Field, value: unknown): Typed {
  if (field.kind === 'flag') return value === true;
  if (field.kind === 'list') {
    return (Array.isArray(value) ? value : []).map((row: Record<string, unknown>) =>
      Object.fromEntries(field.fields.map((inner) => [inner.name, String(typedOf(inner, row[inner.name]))])),
    );
  }
  if (value === undefined || value === null || value === MIXED) return '';
  if (Array.isArray(value)) return value.join(field.kind === 'texts' ? '\n' : ' ');
  return String(value);
}

/** The initial values of a new row. */
export function emptyRow(field: Field): TypedRow {
  return Object.fromEntries(
    field.fields.map((inner) => [
      inner.name,
      String(typedOf(inner, inner.byDefault)) || (inner.required ? (inner.choices[0] ?? '') : ''),
    ]),
  );
}

/** Parses the input: the value (undefined if omitted), or the problems by path. */
export function parsed(field: Field, typed: Typed, words: ProblemWords, path = field.name): Parsed {
  if (typeof typed === 'boolean') return { value: typed };
  if (typeof typed !== 'string') return parsedRows(field, typed, words, path);
  const problem = (text: string): Parsed => ({ problems: { [path]: text } });
  const text = field.kind === 'lines' || field.kind === 'text' ? typed : typed.trim();
  if (field.kind === 'texts') return { value: text.split('\n').filter((line) => line.trim() !== '') };
  if (field.kind === 'integers') {
    const numbers = text === '' ? [] : text.split(/[\s,]+/).map(Number);
    return numbers.every(Number.isInteger) ? { value: numbers } : problem(words.integer);
  }
  if (text === '') return empty(field) ?? problem(words.needed);
  if (field.kind === 'integer' || field.kind === 'number') {
    const number = /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (field.kind === 'integer' && !Number.isSafeInteger(number)) return problem(words.integer);
    if (Number.isNaN(number)) return problem(words.number);
    if (number < (field.lowest ?? number) || number > (field.highest ?? number)) {
      return problem(words.range(field.lowest, field.highest));
    }
    return { value: number };
  }
  if (field.pattern !== undefined && !new RegExp(field.pattern).test(text)) return problem(words.pattern);
  return { value: text };
}

/** The value of an empty field; undefined if it must not be empty. */
function empty(field: Field): Parsed | undefined {
  if (field.choices.includes('')) return { value: '' };
  if ((field.kind === 'text' || field.kind === 'lines') && field.emptyAllowed && !field.pattern) return { value: '' };
  if (field.kind === 'text' && field.pattern !== undefined && new RegExp(field.pattern).test('')) return { value: '' };
  if (field.nullable) return { value: null };
  return field.required ? undefined : { value: undefined };
}

function parsedRows(field: Field, rows: readonly TypedRow[], words: ProblemWords, path: string): Parsed {
  const problems: Record<string, string> = {};
  const value = rows.map((row, index) => {
    const members: Record<string, unknown> = {};
    for (const inner of field.fields) {
      if (!isWanted(inner, row)) continue;
      const result = parsed(inner, row[inner.name] ?? '', words, `${path}.${index}.${inner.name}`);
      if ('problems' in result) Object.assign(problems, result.problems);
      // Empty optional text in a row is omitted.
      else if (result.value !== undefined && !(result.value === '' && !inner.required && !inner.choices.includes('')))
        members[inner.name] = result.value;
    }
    return members;
  });
  return Object.keys(problems).length > 0 ? { problems } : { value };
}

/** The input without what was sent: it came while the request was running. */
export function typedSince<T>(
  typed: Readonly<Record<string, T>>,
  sent: Readonly<Record<string, T>>,
): Record<string, T> {
  return Object.fromEntries(Object.entries(typed).filter(([name, value]) => sent[name] !== value));
}

/** Compares JSON values; an undefined member equals a missing one. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isEqual((one as never)[name], (other as never)[name]));
}
