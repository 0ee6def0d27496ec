// What a cable can be asked to do to frames: values and ranges that routes, files and the fabric share.
import * as v from 'valibot';

/** A value of a filter of the release. */
export interface FilterValue {
  /** As `available_filters` names it. */
  name: string;
  minimum: number;
  maximum: number;
  unit: string;
  /** Least value that does anything, where 0 merely switches the filter off. */
  least?: number;
  /** A cable does without it. */
  optional?: true;
}

const CHANCE: readonly FilterValue[] = [{ name: 'Chance', minimum: 0, maximum: 100, unit: '%' }];

/** The filters of release 2.2.57 whose values are numbers, with those in order; `bpf` takes a text. */
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

// The check says the whole range in words; the limits behind it are for the OpenAPI document.
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
/** How much a frame's fate is that of the frame before it. */
const CORRELATION = v.optional(numberFrom(0, 99, 'percent'));
const EVENT = { percent: PERCENT, correlation: CORRELATION };

const MEMBERS = {
  /** The line's speed and what waits for it; a frame that finds the queue full is dropped. */
  rate: v.strictObject({
    kbit: numberFrom(1, 100_000_000, 'kbit/s'),
    /** Depth of the token bucket: bytes that leave at once after a rest; 0 makes every frame take its time. */
    burst: v.optional(wholeFrom(0, 16_777_216, 'bytes')),
    queue_ms: v.optional(numberFrom(0, 60_000, 'ms')),
    queue_frames: v.optional(wholeFrom(0, 65_536, 'frames')),
    queue_bytes: v.optional(wholeFrom(0, 33_554_432, 'bytes')),
  }),
  delay: v.strictObject({
    ms: numberFrom(0, 60_000, 'ms'),
    /** Half the width of `uniform`, else the standard deviation. */
    jitter: v.optional(numberFrom(0, 60_000, 'ms')),
    distribution: v.optional(v.picklist(DISTRIBUTIONS)),
    correlation: CORRELATION,
    keep_order: v.optional(v.boolean()),
  }),
  loss: v.strictObject(EVENT),
  /** The Gilbert-Elliott model: chances to enter and to leave the bad state, and of a loss in each. */
  burst_loss: v.strictObject({
    p: PERCENT,
    r: PERCENT,
    loss_bad: v.optional(PERCENT),
    loss_good: v.optional(PERCENT),
  }),
  duplicate: v.strictObject(EVENT),
  /** Frames that overtake those which the delay holds; `gap`: every gap-th one at most. */
  reorder: v.strictObject({ ...EVENT, gap: v.optional(wholeFrom(1, 65_536, 'frames')) }),
  /** One bit of the frame is flipped. */
  corrupt: v.strictObject(EVENT),
};

/** What happens to the frames of one direction. */
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

/** Changes of them: a member that is given replaces the one that was there, null takes it away. */
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

/** The impairments after the change; members that do nothing are left out. */
export function changed(impairments: DirectionImpairments, change: DirectionChange): DirectionImpairments {
  const merged = Object.entries({ ...impairments, ...change }).filter(
    ([member, value]) => value != null && !idle[member as keyof typeof idle](value as never),
  );
  return Object.fromEntries(merged);
}

/** When a step of a schedule begins, and for how long it lasts; seconds since the round began. */
export const StepTimes = {
  at: numberFrom(0, 86_400, 'seconds'),
  /** Without it the step lasts until the round is over. */
  for: v.optional(numberFrom(0.001, 86_400, 'seconds')),
};

/** How often the steps are gone through. */
export const ScheduleRounds = {
  /** Seconds from the begin of one round to that of the next. */
  period: v.optional(numberFrom(0.01, 86_400, 'seconds')),
  /** Rounds; 0: until it is cancelled. */
  rounds: v.optional(wholeFrom(0, 1_000_000, 'rounds')),
};

/** Steps of one schedule. */
export const MOST_STEPS = 100;
