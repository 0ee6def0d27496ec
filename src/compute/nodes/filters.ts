// The filters of a NIO as the fabric's impairments (hypervisors of release 2.2.57, section 1.4: types, values, ranges).
import type { Impairments } from '../../fabric/model.ts';
import { Failure } from '../../failures.ts';
import type { PluggableNio } from './nio.ts';

interface Value {
  name: string;
  lowest: number;
  highest: number;
  unit: string;
  optional?: true;
}

interface Filter {
  values: readonly Value[];
  impair(impairments: Impairments, values: number[]): void;
}

const PERCENT: readonly Value[] = [{ name: 'chance', lowest: 0, highest: 100, unit: '%' }];

const FILTERS: Record<string, Filter> = {
  frequency_drop: {
    values: [{ name: 'frequency', lowest: -1, highest: 32767, unit: 'th packet' }],
    impair: (impairments, [frequency]) => {
      impairments.frequencyDrop = frequency!;
    },
  },
  packet_loss: {
    values: PERCENT,
    impair: (impairments, [chance]) => {
      impairments.packetLoss = chance!;
    },
  },
  delay: {
    values: [
      { name: 'latency', lowest: 1, highest: 32767, unit: 'ms' },
      { name: 'jitter', lowest: 0, highest: 32767, unit: 'ms', optional: true },
    ],
    impair: (impairments, [latency, jitter = 0]) => {
      impairments.delay = { latency: latency!, jitter };
    },
  },
  corrupt: {
    values: PERCENT,
    impair: (impairments, [chance]) => {
      impairments.corrupt = chance!;
    },
  },
};

/**
 * What happens to the frames of this NIO; suspended, every frame is dropped, whatever the filters are.
 * @throws Failure `conflict` that names the filter and its range
 */
export function impairmentsOf(nio: PluggableNio): Impairments {
  const impairments: Impairments = {};
  if (nio.type !== 'nio_udp') return impairments;
  for (const [type, given] of Object.entries(nio.filters ?? {})) {
    const filter = Object.hasOwn(FILTERS, type) ? FILTERS[type] : undefined;
    if (filter === undefined) throw unknownFilter(type);
    filter.impair(impairments, checked(type, filter.values, given));
  }
  return nio.suspend ? { frequencyDrop: -1 } : impairments;
}

function checked(type: string, values: readonly Value[], given: unknown): number[] {
  const required = values.filter(({ optional }) => !optional).length;
  if (!Array.isArray(given) || given.length < required || given.length > values.length) {
    const names = values.map(({ name, unit, optional }) => `${name} in ${unit}${optional ? ' (optional)' : ''}`);
    throw refused(`filters.${type}: give a list of ${names.join(' and ')}.`);
  }
  return given.map((value: unknown, index) => {
    const { name, lowest, highest, unit } = values[index]!;
    if (typeof value === 'number' && Number.isInteger(value) && value >= lowest && value <= highest) return value;
    throw refused(`filters.${type}: ${name} must be a whole number from ${lowest} to ${highest} (${unit}).`);
  });
}

function unknownFilter(type: string): Failure {
  const known = Object.keys(FILTERS).join(', ');
  if (type === 'bpf')
    return refused(`filters.bpf: BPF expressions are not supported; remove it (supported: ${known}).`);
  return refused(`filters.${type}: there is no such filter; use one of ${known}.`);
}

/** The release reports refused filters as an error of its bridge program. */
function refused(message: string): Failure {
  return new Failure('conflict', message, { exception: 'UbridgeError' });
}
