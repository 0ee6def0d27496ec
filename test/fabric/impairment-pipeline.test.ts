// What the pipeline decides, with numbers that are random but the same each time: shares, means and likeness are as they were asked for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, DISTRIBUTIONS, type DirectionImpairments } from '../../src/api/impairments.ts';
import { Chance, GilbertElliott } from '../../src/fabric/plane/chance.ts';
import { ImpairmentPipeline } from '../../src/fabric/plane/impairment-pipeline.ts';
import { flipBit } from '../../src/fabric/plane/impairments.ts';
import { Jitter, PARETO_DEVIATION, PARETO_MEAN, PARETO_MOST } from '../../src/fabric/plane/jitter.ts';
import { RateLimit } from '../../src/fabric/plane/rate-limit.ts';
import { seeded } from '../seeded.ts';

const FRAMES = 100_000;

function sample(next: () => number, count = FRAMES): number[] {
  return Array.from({ length: count }, next);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}

/** Coefficient of correlation of neighbours. */
function likeness(values: readonly number[]): number {
  const [centre, spread] = [mean(values), deviation(values)];
  const products = values.slice(1).map((value, index) => (value - centre) * (values[index]! - centre));
  return mean(products) / spread ** 2;
}

function near(actual: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, wanted ${expected} ± ${tolerance}`);
}

test('as many frames are lost as asked for, and neighbours share their fate as much as asked for', () => {
  for (const percent of [0.1, 1, 10, 50, 99]) {
    for (const correlation of [0, 25, 75]) {
      const chance = new Chance({ percent, correlation }, seeded(percent + correlation));
      const lost = sample(() => Number(chance.happens()));
      const share = percent / 100;
      // Correlated frames are worth fewer independent ones.
      const worth = (FRAMES * (100 - correlation)) / (100 + correlation);
      const what = `${percent} % at ${correlation} %`;
      near(mean(lost), share, 4 * Math.sqrt((share * (1 - share)) / worth), what);
      near(likeness(lost), correlation / 100, percent < 1 ? 0.15 : 0.03, `likeness of ${what}`);
    }
  }
});

test('losses in bursts have the share and the length of the Gilbert-Elliott model', () => {
  const model = new GilbertElliott({ p: 1, r: 20 }, seeded(7));
  const lost = sample(() => Number(model.loses()), 4 * FRAMES);
  near(mean(lost), 1 / 21, 0.004, 'share');
  const bursts = lost.filter((value, index) => value === 1 && lost[index - 1] !== 1).length;
  near(lost.filter((value) => value === 1).length / bursts, 5, 0.3, 'frames of a burst');
  const noisy = new GilbertElliott({ p: 10, r: 10, loss_bad: 50, loss_good: 10 }, seeded(8));
  near(mean(sample(() => Number(noisy.loses()))), 0.3, 0.01, 'share with losses in both states');
});

test('each distribution of jitter has mean 0, its spread, and its shape, alone and with alike neighbours', () => {
  for (const distribution of DISTRIBUTIONS) {
    for (const correlation of [0, 60]) {
      const jitter = new Jitter(distribution, correlation, seeded(42));
      const values = sample(() => jitter.next(), 2 * FRAMES);
      const what = `${distribution} at ${correlation} %`;
      near(mean(values), 0, 0.03, `mean of ${what}`);
      const spread = distribution === 'uniform' ? 1 / Math.sqrt(3) : 1;
      near(deviation(values), spread, 0.03, `deviation of ${what}`);
      near(likeness(values), correlation / 100, correlation === 0 ? 0.01 : 0.12, `likeness of ${what}`);
    }
  }
});

test('normal jitter lies within one, two and three deviations as often as it should', () => {
  const jitter = new Jitter('normal', 0, seeded(3));
  const values = sample(() => jitter.next());
  for (const [deviations, share] of [
    [1, 0.6827],
    [2, 0.9545],
    [3, 0.9973],
  ] as const) {
    near(mean(values.map((value) => Number(Math.abs(value) < deviations))), share, 0.005, `${deviations} deviations`);
  }
});

test('pareto jitter is mostly a little early and sometimes very late', () => {
  const jitter = new Jitter('pareto', 0, seeded(4));
  const values = sample(() => jitter.next());
  near(Math.min(...values.slice(0, 50_000)), (1 - PARETO_MEAN) / PARETO_DEVIATION, 0.01, 'least');
  near(mean(values.map((value) => Number(value < 0))), 1 - PARETO_MEAN ** -3, 0.01, 'share of early ones');
  near(mean(values.map((value) => Number(value > 3))), (PARETO_MEAN + 3 * PARETO_DEVIATION) ** -3, 0.003, 'tail');
  const most = (PARETO_MOST - PARETO_MEAN) / PARETO_DEVIATION;
  near(
    values.reduce((one, other) => Math.max(one, other)),
    most,
    0.01,
    'most',
  );
});

test('a rate sends frames one after the other, each in its time', () => {
  const rate = new RateLimit();
  // 8 bits a millisecond: a byte each.
  rate.change({ kbit: 8 });
  assert.deepEqual([rate.departure(0, 100), rate.departure(0, 50), rate.departure(10, 50)], [100, 150, 200]);
  assert.deepEqual(rate.queue(120), { frames: 2, bytes: 100 });
  assert.equal(rate.departure(1000, 10), 1010);
  assert.deepEqual(rate.queue(1010), { frames: 0, bytes: 0 });
});

test('a burst leaves at once after a rest, and no more than it', () => {
  const rate = new RateLimit();
  rate.change({ kbit: 8, burst: 250 });
  assert.deepEqual(
    Array.from({ length: 4 }, () => rate.departure(1000, 100)),
    [1000, 1000, 1050, 1150],
  );
  // The bucket fills by a byte a millisecond.
  assert.equal(rate.departure(1500, 100), 1500);
});

test('a queue takes what it is said to take, and one frame whatever that is', () => {
  const taken = (settings: object, length = 1000): number => {
    const rate = new RateLimit();
    rate.change({ kbit: 8, ...settings });
    let frames = 0;
    while (frames < 10_000 && rate.departure(0, length) !== -1) frames++;
    return frames;
  };
  // The frame that is being sent does not wait.
  assert.equal(taken({ queue_frames: 5 }), 6);
  assert.equal(taken({ queue_frames: 0 }), 1);
  assert.equal(taken({ queue_bytes: 5500 }), 6);
  assert.equal(taken({ queue_ms: 3500 }), 4);
  assert.equal(taken({ queue_bytes: 10 }), 1);
  // Ten full frames where 100 ms are less.
  assert.equal(taken({}, 1514), 11);
  assert.equal(taken({ kbit: 1_000_000 }, 1000), 10_000);
});

test('a change of the rate leaves what waits in its order', () => {
  const pipeline = new ImpairmentPipeline({ rate: { kbit: 8 } });
  assert.equal(pipeline.arrival(0, 1000), 1000);
  pipeline.change({ rate: { kbit: 8000 } });
  assert.equal(pipeline.arrival(0, 1000), 1001);
});

test('a pipeline keeps its order if the setting says so, and not otherwise', () => {
  const arrivals = (keep: boolean): number[] => {
    const delay = { ms: 50, jitter: 20, distribution: 'normal', keep_order: keep } as const;
    const pipeline = new ImpairmentPipeline({ delay }, seeded(5));
    return Array.from({ length: 1000 }, (_, index) => pipeline.arrival(index, 100));
  };
  const rising = (values: number[]): boolean =>
    values.every((value, index) => index === 0 || value >= values[index - 1]!);
  assert.equal(rising(arrivals(true)), true);
  assert.equal(rising(arrivals(false)), false);
});

test('every third frame overtakes when all may and the gap is 3', () => {
  const pipeline = new ImpairmentPipeline({ delay: { ms: 10 }, reorder: { percent: 100, gap: 3 } });
  assert.deepEqual(
    Array.from({ length: 6 }, () => pipeline.arrival(0, 100)),
    [10, 10, 0, 10, 10, 0],
  );
  const some = new ImpairmentPipeline({ delay: { ms: 10 }, reorder: { percent: 25, correlation: 50 } }, seeded(9));
  near(mean(sample(() => Number(some.arrival(0, 100) === 0))), 0.25, 0.01, 'share of those that overtake');
});

test('one bit of a frame is flipped, anywhere in it', () => {
  const random = seeded(10);
  const seen = new Set<number>();
  for (let count = 0; count < 2000; count++) {
    const bytes = Buffer.alloc(12, 0xa5);
    flipBit(bytes, 2, 8, random);
    const bits = Array.from(bytes, (byte, index) => ({ index, changed: byte ^ 0xa5 })).filter(
      ({ changed: bit }) => bit,
    );
    assert.equal(bits.length, 1);
    assert.equal(Math.log2(bits[0]!.changed) % 1, 0);
    seen.add(bits[0]!.index);
  }
  assert.deepEqual(
    [...seen].sort((a, b) => a - b),
    [2, 3, 4, 5, 6, 7, 8, 9],
  );
});

test('a change replaces members, takes them away, and leaves the others', () => {
  const before: DirectionImpairments = { delay: { ms: 5 }, loss: { percent: 1 } };
  assert.deepEqual(changed(before, { loss: null, rate: { kbit: 8 } }), { delay: { ms: 5 }, rate: { kbit: 8 } });
  assert.deepEqual(changed(before, { delay: { ms: 0 }, loss: { percent: 0 } }), {});
  assert.deepEqual(changed(before, {}), before);
});
