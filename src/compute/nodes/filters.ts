// The filters of a NIO as the fabric's impairments (hypervisors of release 2.2.57, section 1.4: types, values, ranges).
import type { Impairments } from '../../fabric/model.ts';
import { Failure } from '../../failures.ts';
import { compileFilter } from '../../host/libpcap.ts';
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

/** Expressions of a packet filter, each of which is run for every frame. */
const MOST_EXPRESSIONS = 100;

/**
 * What happens to the frames of this NIO; suspended, every frame is dropped, whatever the filters are.
 * @throws Failure `conflict` that names the filter and its range, or what is wrong with its expression
 */
export async function impairmentsOf(nio: PluggableNio): Promise<Impairments> {
  const impairments: Impairments = {};
  if (nio.type !== 'nio_udp') return impairments;
  for (const [type, given] of Object.entries(nio.filters ?? {})) {
    if (type === 'bpf') {
      impairments.packetFilters = await packetFilters(given);
      continue;
    }
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

/** One program for each line; a frame that one of them accepts is dropped. */
async function packetFilters(given: unknown): Promise<Uint32Array[]> {
  const [text, linkType, ...rest] = Array.isArray(given) ? (given as unknown[]) : [];
  if (typeof text !== 'string' || !(linkType === undefined || typeof linkType === 'string') || rest.length > 0) {
    throw refused('filters.bpf: give a list of one text, an expression on each line, and (optional) a link type.');
  }
  const expressions = text.split('\n').filter((line) => line.trim() !== '');
  if (expressions.length > MOST_EXPRESSIONS) {
    throw refused(`filters.bpf: give at most ${MOST_EXPRESSIONS} expressions; join them by "or".`);
  }
  const programs: Uint32Array[] = [];
  for (const expression of expressions) {
    try {
      programs.push(await compileFilter(expression, linkType));
    } catch (thrown) {
      if (thrown instanceof Failure) throw refused(`filters.bpf: ${thrown.message}`);
      throw thrown;
    }
  }
  return programs;
}

function unknownFilter(type: string): Failure {
  return refused(`filters.${type}: there is no such filter; use one of ${Object.keys(FILTERS).join(', ')}, bpf.`);
}

/** The release reports refused filters as an error of its bridge program. */
function refused(message: string): Failure {
  return new Failure('conflict', message, { exception: 'UbridgeError' });
}
