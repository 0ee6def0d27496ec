// Random variation of a delay: distributions, and correlation of successive frames.

import type { Distribution } from '../../api/impairments.ts';
import type { Random } from './chance.ts';

/** Shape of the Pareto distribution: the smallest integer with a finite variance, so the tail is heavy. */
const SHAPE = 3;
/** Cut-off of the tail, some ten standard deviations from the mean, so that no frame is held forever. */
export const PARETO_MOST = 9;
/** Mean of the truncated distribution, for a shape of 3. */
export const PARETO_MEAN = 1.5 - 1 / (2 * PARETO_MOST ** 2);
export const PARETO_DEVIATION = Math.sqrt(3 - 2 / PARETO_MOST - PARETO_MEAN ** 2);
/** A quarter normal, three quarters Pareto, scaled to a standard deviation of 1. */
const [NORMAL_PART, PARETO_PART] = [0.25, 0.75].map((part) => part / Math.hypot(0.25, 0.75)) as [number, number];

/** Pareto with mean 0 and standard deviation 1, from a number uniform in [0, 1). */
function pareto(uniform: number): number {
  return (Math.min(PARETO_MOST, (1 - uniform) ** (-1 / SHAPE)) - PARETO_MEAN) / PARETO_DEVIATION;
}

/** The normal distribution function (Abramowitz and Stegun, 7.1.26: error below 1.5e-7). */
function cumulative(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const tail = (series * Math.exp(-x * x)) / 2;
  return z < 0 ? tail : 1 - tail;
}

/** Normal numbers with mean 0 and standard deviation 1; `likeness` is the correlation of neighbours. */
class Normal {
  readonly #random: Random;
  readonly #likeness: number;
  readonly #fresh: number;
  #spare = Number.NaN;
  #last: number;

  constructor(likeness: number, random: Random) {
    this.#random = random;
    this.#likeness = likeness;
    this.#fresh = Math.sqrt(1 - likeness * likeness);
    this.#last = this.#independent();
  }

  next(): number {
    this.#last = this.#likeness * this.#last + this.#fresh * this.#independent();
    return this.#last;
  }

  /** Marsaglia's polar method, which yields two numbers at a time. */
  #independent(): number {
    if (!Number.isNaN(this.#spare)) {
      const spare = this.#spare;
      this.#spare = Number.NaN;
      return spare;
    }
    for (;;) {
      const [x, y] = [this.#random() * 2 - 1, this.#random() * 2 - 1];
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spare = y * scale;
      return x * scale;
    }
  }
}

/** Deviations with mean 0: `uniform` in [-1, 1), the others with a standard deviation of 1. */
export class Jitter {
  readonly #distribution: Distribution;
  readonly #random: Random;
  readonly #normal: Normal;
  /** A second source makes the two parts of `paretonormal` independent. */
  readonly #other: Normal;
  readonly #correlated: boolean;

  /** `correlation`: of neighbours, in percent. */
  constructor(distribution: Distribution, correlation: number, random: Random) {
    this.#distribution = distribution;
    this.#random = random;
    this.#correlated = correlation > 0;
    this.#normal = new Normal(correlation / 100, random);
    this.#other = new Normal(correlation / 100, random);
  }

  next(): number {
    switch (this.#distribution) {
      case 'uniform':
        return this.#uniform() * 2 - 1;
      case 'normal':
        return this.#normal.next();
      case 'pareto':
        return pareto(this.#uniform());
      case 'paretonormal':
        return PARETO_PART * pareto(this.#uniform()) + NORMAL_PART * this.#other.next();
    }
  }

  /** Uniform in [0, 1). Correlated numbers go through the normal distribution, so that each one stays uniform. */
  #uniform(): number {
    return this.#correlated ? Math.min(cumulative(this.#normal.next()), 1 - Number.EPSILON) : this.#random();
  }
}
