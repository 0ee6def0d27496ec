// Numbers in a request's query.
import { invalid } from '../../failures.ts';
import { MOST_LAST_BYTES } from '../../store/captures.ts';

export interface WholeNumber {
  least: number;
  most: number;
  unit: string;
}

/**
 * An integer parameter; undefined if missing.
 * @throws Failure `invalid` with the parameter and its range
 */
export function wholeInQuery(
  query: Readonly<Record<string, string>>,
  name: string,
  { least, most, unit }: WholeNumber,
): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const shown = JSON.stringify(text.slice(0, 40));
  throw invalid(`${name}: expected a whole number from ${least} to ${most} (${unit}), received ${shown}`);
}

/** `?last=`: start reading this many bytes before the end of a capture. */
export function lastBytes(query: Readonly<Record<string, string>>): number | undefined {
  return wholeInQuery(query, 'last', { least: 0, most: MOST_LAST_BYTES, unit: 'bytes' });
}
