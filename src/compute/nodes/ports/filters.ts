// Converts the filters of a NIO to the fabric's impairments (hypervisors of release 2.2.57: types, values, ranges).
import { FILTER_VALUES, type FilterValue } from '../../../api/impairments.ts';
import type { Impairments } from '../../../fabric/model.ts';
import { conflict, Failure } from '../../../failures.ts';
import { compileFilter } from '../../../host/network/libpcap.ts';
import type { PluggableNio } from './nio.ts';

type Impair = (impairments: Impairments, values: number[]) => void;

const IMPAIR: Readonly<Record<keyof typeof FILTER_VALUES, Impair>> = {
  frequency_drop: (impairments, [frequency]) => {
    impairments.frequencyDrop = frequency!;
  },
  packet_loss: (impairments, [chance]) => {
    impairments.packetLoss = chance!;
  },
  delay: (impairments, [latency, jitter = 0]) => {
    impairments.delay = { latency: latency!, jitter };
  },
  corrupt: (impairments, [chance]) => {
    impairments.corrupt = chance!;
  },
};

/** Drops every frame. */
export const SUSPENDED: Impairments = { frequencyDrop: -1 };

function isKnown(type: string): type is keyof typeof FILTER_VALUES {
  return Object.hasOwn(FILTER_VALUES, type);
}

/** Limit of expressions in a packet filter: each one runs for every frame. */
const MOST_EXPRESSIONS = 100;

/**
 * The impairments of this NIO. If it is suspended every frame is dropped, whatever the filters.
 * @throws Failure `conflict` that names the filter and its range, or the error in its expression
 */
export async function impairmentsOf(nio: PluggableNio): Promise<Impairments> {
  const impairments: Impairments = {};
  if (nio.type !== 'nio_udp') return impairments;
  for (const [type, given] of Object.entries(nio.filters ?? {})) {
    if (type === 'bpf') {
      impairments.packetFilters = await packetFilters(given);
      continue;
    }
    if (!isKnown(type)) throw unknownFilter(type);
    IMPAIR[type](impairments, checked(type, FILTER_VALUES[type], given));
  }
  return nio.suspend ? SUSPENDED : impairments;
}

function checked(type: string, values: readonly FilterValue[], given: unknown): number[] {
  const required = values.filter(({ optional }) => !optional).length;
  if (!Array.isArray(given) || given.length < required || given.length > values.length) {
    const names = values.map(({ name, unit, optional }) => `${name} in ${unit}${optional ? ' (optional)' : ''}`);
    throw refused(`filters.${type}: give a list of ${names.join(' and ')}.`);
  }
  return given.map((value: unknown, index) => {
    const { name, minimum, maximum, unit, least = minimum } = values[index]!;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= maximum) return value;
    throw refused(`filters.${type}: ${name} must be a whole number from ${least} to ${maximum} (${unit}).`);
  });
}

/** One program per line; a frame that matches one of them is dropped. */
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
  return refused(`filters.${type}: there is no such filter; use one of ${Object.keys(FILTER_VALUES).join(', ')}, bpf.`);
}

/** The release reports rejected filters as an error of its bridge program. */
function refused(message: string): Failure {
  return conflict(message, { exception: 'UbridgeError' });
}
