// Random events per frame: independent, correlated with the previous frame, or in bursts.

/** Returns numbers in [0, 1). */
export type Random = () => number;

/**
 * An event with a probability in percent. A correlation makes it a two-state Markov chain with exactly this probability and exactly this
 * correlation between neighbouring frames.
 */
export class Chance {
  readonly #afterEvent: number;
  readonly #afterNone: number;
  readonly #random: Random;
  #last: boolean;

  constructor({ percent, correlation = 0 }: { percent: number; correlation?: number | undefined }, random: Random) {
    const [chance, likeness] = [percent / 100, correlation / 100];
    this.#afterEvent = chance + likeness * (1 - chance);
    this.#afterNone = chance * (1 - likeness);
    this.#random = random;
    this.#last = likeness > 0 && random() < chance;
  }

  happens(): boolean {
    this.#last = this.#random() < (this.#last ? this.#afterEvent : this.#afterNone);
    return this.#last;
  }
}

export interface GilbertElliottSettings {
  /** Probabilities in percent, per frame, of going from the good state to the bad one, and back. */
  p: number;
  r: number;
  /** Probabilities in percent of a loss in the bad state (1-h) and in the good one (1-k). */
  loss_bad?: number | undefined;
  loss_good?: number | undefined;
}

/**
 * Burst losses: the line is good or bad, frame by frame. E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", Bell
 * System Technical Journal 42 (1963).
 */
export class GilbertElliott {
  readonly #settings: { p: number; r: number; loss_bad: number; loss_good: number };
  readonly #random: Random;
  #bad = false;

  constructor({ p, r, loss_bad = 100, loss_good = 0 }: GilbertElliottSettings, random: Random) {
    this.#settings = { p, r, loss_bad, loss_good };
    this.#random = random;
    // Starts in a random state with the long-term share, so that short measurements show the same loss.
    this.#bad = p + r > 0 && random() * (p + r) < p;
  }

  loses(): boolean {
    const { p, r, loss_bad: bad, loss_good: good } = this.#settings;
    const lost = this.#random() * 100 < (this.#bad ? bad : good);
    if (this.#random() * 100 < (this.#bad ? r : p)) this.#bad = !this.#bad;
    return lost;
  }
}
