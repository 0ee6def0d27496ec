// Filters of a link: the available types, and the conversion of a client's filters for storage (as in release 2.2.57).
import { FILTER_VALUES, type FilterValue } from '../../api/impairments.ts';
import type { FilterDescription, NumberParameter } from '../../api/routes/links.ts';
import { invalid } from '../../failures.ts';

/** Type -> its values: numbers, or one text for `bpf`. */
export type Filters = Record<string, (number | string)[]>;

const numbers = (values: readonly FilterValue[]): NumberParameter[] =>
  values.map(({ name, minimum, maximum, unit }) => ({ name, type: 'int', minimum, maximum, unit }));

/** The answer of `available_filters`; the names are a contract, the descriptions are ours. */
export const FILTERS: readonly FilterDescription[] = [
  {
    type: 'frequency_drop',
    name: 'Frequency drop',
    description: 'Drops every nth packet; -1 drops all of them.',
    parameters: numbers(FILTER_VALUES.frequency_drop),
  },
  {
    type: 'packet_loss',
    name: 'Packet loss',
    description: 'Drops packets at random, with the given chance.',
    parameters: numbers(FILTER_VALUES.packet_loss),
  },
  {
    type: 'delay',
    name: 'Delay',
    description: 'Holds each packet for the latency, more or less by the jitter.',
    parameters: numbers(FILTER_VALUES.delay),
  },
  {
    type: 'corrupt',
    name: 'Corrupt',
    description: 'Damages packets at random, with the given chance.',
    parameters: numbers(FILTER_VALUES.corrupt),
  },
  {
    type: 'bpf',
    name: 'Berkeley Packet Filter (BPF)',
    description: 'Drops the packets that match one of the expressions, one on each line.',
    parameters: [{ name: 'Filters', type: 'text' }],
  },
];

/** A filter of any type drops nothing if its first value is 0 or empty; such filters are not stored. */
function idle(values: readonly (number | string)[]): boolean {
  return values.length === 0 || values[0] === 0 || values[0] === '';
}

function refuse(type: string, reason: string): never {
  throw invalid(`filters.${type}: ${reason}`);
}

function normalizedNumber(type: string, parameter: NumberParameter, value: unknown): number {
  const given = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof given !== 'number' || !Number.isFinite(given)) refuse(type, `${parameter.name} must be a number`);
  const whole = Math.trunc(given as number);
  if (whole < parameter.minimum || whole > parameter.maximum) {
    refuse(
      type,
      `${parameter.name} must be from ${parameter.minimum} to ${parameter.maximum} ${parameter.unit}, not ${whole}`,
    );
  }
  return whole;
}

function normalizedValues(description: FilterDescription, values: readonly unknown[]): (number | string)[] {
  const { type, parameters } = description;
  if (values.length > parameters.length)
    refuse(type, `takes ${parameters.map(({ name }) => name).join(' and ')}, nothing more`);
  return values.map((value, index) => {
    const parameter = parameters[index] as FilterDescription['parameters'][number];
    if (parameter.type === 'int') return normalizedNumber(type, parameter, value);
    if (typeof value !== 'string') refuse(type, 'must be text, one expression on each line');
    return (value as string).replaceAll(/^[\n ]+|[\n ]+$/g, '');
  });
}

/**
 * The filters for storage: whole numbers, without idle filters. Unknown types are kept for the client that sent them,
 * as in the release, but never applied.
 * @throws Failure `invalid` naming the filter and its values
 */
export function normalizedFilters(given: Readonly<Record<string, unknown>>): Filters {
  const filters: Filters = {};
  for (const [type, values] of Object.entries(given)) {
    const description = FILTERS.find((filter) => filter.type === type);
    if (!Array.isArray(values)) refuse(type, 'must be a list of values');
    const given = values as unknown[];
    const normalized = description
      ? normalizedValues(description, given)
      : given.map((value) => unknownValue(type, value));
    if (!idle(normalized)) filters[type] = normalized;
  }
  return filters;
}

function unknownValue(type: string, value: unknown): number | string {
  return typeof value === 'number' || typeof value === 'string' ? value : refuse(type, 'takes numbers and text only');
}

/** The filters that a cable can apply. */
export function knownFilters(filters: Filters): Filters {
  return Object.fromEntries(Object.entries(filters).filter(([type]) => FILTERS.some((filter) => filter.type === type)));
}

/** The filters from a topology file; invalid ones are left out, so that they never keep a project from opening. */
export function storedFilters(given: Readonly<Record<string, unknown>>): { filters: Filters; left: string[] } {
  const filters: Filters = {};
  const left: string[] = [];
  for (const [type, values] of Object.entries(given)) {
    try {
      Object.assign(filters, normalizedFilters({ [type]: values }));
    } catch (error) {
      left.push(error instanceof Error ? error.message : type);
    }
  }
  return { filters, left };
}
