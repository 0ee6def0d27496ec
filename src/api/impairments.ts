// Impairments of frames: values and ranges shared by routes, files and the fabric.
import * as v from 'valibot';

/** A value of one of the release's filters. */
export interface FilterValue {
  /** The name in `available_filters`. */
  name: string;
  minimum: number;
  maximum: number;
  unit: string;
  /** The smallest effective value, where 0 turns the filter off. */
  least?: number;
  /** It may be left out for a cable. */
  optional?: true;
}

const CHANCE: readonly FilterValue[] = [{ name: 'Chance', minimum: 0, maximum: 100, unit: '%' }];

/** The filters of release 2.2.57 with numeric values, in order; `bpf` takes a text. */
export const FILTER_VALUES = {
  frequency_drop: [{ name: 'Frequency', minimum: -1, maximum: 32_767, unit: 'th packet' }],
  packet_loss: CHANCE,
  delay: [
    { name: 'Latency', minimum: 0, maximum: 32_767, unit: 'ms', least: 1 },
    { name: 'Jitter (-/+)', minimum: 0, maximum: 32_767, unit: 'ms', optional: true },
  ],
  corrupt: CHANCE,
} as const satisfies Record<string, readonly FilterValue[]>;

export const DISTRIBUTIONS = ['uniform', 'normal', 'pareto', 'paretonormal'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

const words = (kind: string, minimum: number, maximum: number, unit: string): string =>
  `a ${kind} from ${minimum} to ${maximum} (${unit})`;

// The check's message names the whole range; the limits after it are for the OpenAPI document.
function numberFrom(minimum: number, maximum: number, unit: string) {
  const fits = (value: number): boolean => value >= minimum && value <= maximum;
  return v.pipe(
    v.number(),
    v.check(fits, words('number', minimum, maximum, unit)),
    v.minValue(minimum),
    v.maxValue(maximum),
  );
}

export function wholeFrom(minimum: number, maximum: number, unit: string) {
  const fits = (value: number): boolean => Number.isInteger(value) && value >= minimum && value <= maximum;
  return v.pipe(
    v.number(),
    v.check(fits, words('whole number', minimum, maximum, unit)),
    v.integer(),
    v.minValue(minimum),
    v.maxValue(maximum),
  );
}

const PERCENT = numberFrom(0, 100, 'percent');
/** How much the outcome for a frame depends on the frame before it. */
const CORRELATION = v.optional(numberFrom(0, 99, 'percent'));
const EVENT = { percent: PERCENT, correlation: CORRELATION };

const MEMBERS = {
  /** The link's rate and its queue; frames are dropped when the queue is full. */
  rate: v.strictObject({
    kbit: numberFrom(1, 100_000_000, 'kbit/s'),
    /** Depth of the token bucket: bytes sent at once after an idle time; 0 delays every frame. */
    burst: v.optional(wholeFrom(0, 16_777_216, 'bytes')),
    queue_ms: v.optional(numberFrom(0, 60_000, 'ms')),
    queue_frames: v.optional(wholeFrom(0, 65_536, 'frames')),
    queue_bytes: v.optional(wholeFrom(0, 33_554_432, 'bytes')),
  }),
  delay: v.strictObject({
    ms: numberFrom(0, 60_000, 'ms'),
    /** Half the width for `uniform`, otherwise the standard deviation. */
    jitter: v.optional(numberFrom(0, 60_000, 'ms')),
    distribution: v.optional(v.picklist(DISTRIBUTIONS)),
    correlation: CORRELATION,
    keep_order: v.optional(v.boolean()),
  }),
  loss: v.strictObject(EVENT),
  /** The Gilbert-Elliott model: the chances to enter and leave the bad state, and of a loss in each state. */
  burst_loss: v.strictObject({
    p: PERCENT,
    r: PERCENT,
    loss_bad: v.optional(PERCENT),
    loss_good: v.optional(PERCENT),
  }),
  duplicate: v.strictObject(EVENT),
  /** Frames that overtake delayed ones; `gap`: at most every gap-th frame. */
  reorder: v.strictObject({ ...EVENT, gap: v.optional(wholeFrom(1, 65_536, 'frames')) }),
  /** Flips one bit of the frame. */
  corrupt: v.strictObject(EVENT),
};

export const DirectionImpairments = v.strictObject({
  rate: v.optional(MEMBERS.rate),
  delay: v.optional(MEMBERS.delay),
  loss: v.optional(MEMBERS.loss),
  burst_loss: v.optional(MEMBERS.burst_loss),
  duplicate: v.optional(MEMBERS.duplicate),
  reorder: v.optional(MEMBERS.reorder),
  corrupt: v.optional(MEMBERS.corrupt),
});
export type DirectionImpairments = v.InferOutput<typeof DirectionImpairments>;

/** A change: a given member replaces the present one, null removes it. */
export const DirectionChange = v.strictObject({
  rate: v.nullish(MEMBERS.rate),
  delay: v.nullish(MEMBERS.delay),
  loss: v.nullish(MEMBERS.loss),
  burst_loss: v.nullish(MEMBERS.burst_loss),
  duplicate: v.nullish(MEMBERS.duplicate),
  reorder: v.nullish(MEMBERS.reorder),
  corrupt: v.nullish(MEMBERS.corrupt),
});
export type DirectionChange = v.InferOutput<typeof DirectionChange>;

const idle: {
  [Member in keyof DirectionImpairments]-?: (value: NonNullable<DirectionImpairments[Member]>) => boolean;
} = {
  rate: () => false,
  delay: ({ ms, jitter = 0 }) => ms === 0 && jitter === 0,
  loss: ({ percent }) => percent === 0,
  burst_loss: ({ p, loss_good: good = 0 }) => p === 0 && good === 0,
  duplicate: ({ percent }) => percent === 0,
  reorder: ({ percent }) => percent === 0,
  corrupt: ({ percent }) => percent === 0,
};

/** The impairments after the change, without ineffective members. */
export function changed(impairments: DirectionImpairments, change: DirectionChange): DirectionImpairments {
  const merged = Object.entries({ ...impairments, ...change }).filter(
    ([member, value]) => value != null && !idle[member as keyof typeof idle](value as never),
  );
  return Object.fromEntries(merged);
}

/** Begin and duration of a schedule's step, in seconds since the round began. */
export const StepTimes = {
  at: numberFrom(0, 86_400, 'seconds'),
  /** Without it the step lasts until the end of the round. */
  for: v.optional(numberFrom(0.001, 86_400, 'seconds')),
};

/** The repetition of the steps. */
export const ScheduleRounds = {
  /** Seconds between the beginnings of two rounds. */
  period: v.optional(numberFrom(0.01, 86_400, 'seconds')),
  /** Number of rounds; 0: until it is cancelled. */
  rounds: v.optional(wholeFrom(0, 1_000_000, 'rounds')),
};

export const MOST_STEPS = 100;
