// Expands `{1..20}` in names and `${NAME}` in texts.
import { invalid } from '../../failures.ts';

export type Values = Readonly<Record<string, string | number | boolean | null>>;

const RANGE = /\{(\d{1,6})\.\.(\d{1,6})\}/g;
export const hasRange = (text: string): boolean => text.search(RANGE) !== -1;

/** More copies than any lab has. */
const MOST_COPIES = 10_000;

export interface Copy {
  text: string;
  /** The number in the place of the first range; undefined where there was none. */
  number: number | undefined;
}

/**
 * `PC{1..3}` as PC1, PC2 and PC3; `{01..10}` keeps its zeros. Several ranges in one text count together.
 * @throws Failure `invalid` for ranges that cannot be counted
 */
export function copiesOf(text: string): Copy[] {
  const ranges = [...text.matchAll(RANGE)].map(([whole, first = '', last = '']) => {
    const count = Number(last) - Number(first) + 1;
    if (count < 1) throw invalid(`${whole} counts backwards: write {${last}..${first}}`);
    if (count > MOST_COPIES) throw invalid(`${whole} makes ${count} copies; the most is ${MOST_COPIES}.`);
    return { first: Number(first), width: first.startsWith('0') ? first.length : 0, count };
  });
  if (ranges.length === 0) return [{ text, number: undefined }];
  const { count } = ranges[0]!;
  if (ranges.some((range) => range.count !== count)) throw invalid(`the ranges of "${text}" have different lengths.`);
  return Array.from({ length: count }, (_, index) => {
    let range = 0;
    const copy = text.replaceAll(RANGE, () => {
      const { first, width } = ranges[range++]!;
      return String(first + index).padStart(width, '0');
    });
    return { text: copy, number: ranges[0]!.first + index };
  });
}

const PLACEHOLDER = /\$?\$\{([^{}]*)\}/g;
const CALCULATION = /^(.+?)\s*([+*-])\s*(\d+)$/;

/** @throws Failure `invalid` for a name without a value */
function meaningOf(expression: string, values: Values): string | number | boolean {
  const name = expression.trim();
  const given = (one: string) => (Object.hasOwn(values, one) ? values[one] : undefined);
  const known = given(name);
  if (known !== undefined && known !== null) return known;
  const [, base = '', sign, amount] = CALCULATION.exec(name) ?? [];
  const number = given(base);
  if (typeof number === 'number') {
    if (sign === '*') return number * Number(amount);
    return sign === '+' ? number + Number(amount) : number - Number(amount);
  }
  const fix = `give it a value in variables, or write $\${${expression}} for the text itself`;
  if (known === null) throw invalid(`the variable "${name}" has no value: ${fix}`);
  throw invalid(name === 'n' ? `\${n} exists only in copies: ${fix}` : `there is no variable "${name}": ${fix}`);
}

/**
 * Fills in all texts of a value.
 * @param typed a text that is only a placeholder becomes its value, such as a number; otherwise it stays a text
 * @throws Failure `invalid`
 */
export function filled<T>(value: T, values: Values, { typed = true }: { typed?: boolean } = {}): T {
  if (typeof value === 'string') {
    const [, alone] = /^\$\{([^{}]*)\}$/.exec(value) ?? [];
    if (alone !== undefined && typed) return meaningOf(alone, values) as T;
    return value.replaceAll(PLACEHOLDER, (whole, expression: string) =>
      whole.startsWith('$$') ? whole.slice(1) : String(meaningOf(expression, values)),
    ) as T;
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, values, { typed })) as T;
  if (typeof value === 'object' && value !== null) {
    const members = new Map<string, unknown>();
    for (const [given, one] of Object.entries(value)) {
      const name = filledText(given, values);
      if (members.has(name)) throw invalid(`"${name}" is there twice once its variables are filled in`);
      members.set(name, filled(one, values, { typed }));
    }
    return Object.fromEntries(members) as T;
  }
  return value;
}

/** As `filled`, and a text in any case. */
export function filledText(text: string, values: Values): string {
  return filled(text, values, { typed: false });
}

/** A text so that it stands for itself. */
export function literal(text: string): string {
  return text.replaceAll(/\$\{(?=[^{}]*\})/g, '$$$${');
}
