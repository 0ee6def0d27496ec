// Whether something happens to a frame: independently, as the frame before, or in bursts.

/** Answers numbers in [0, 1). */
export type Random = () => number;

/**
 * An event with a chance in percent. With a correlation, a Markov chain of two states whose share of events is the chance
 * and whose coefficient of correlation between neighbours is the given one, both exactly.
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
  /** Chances in percent, for each frame, to go from the good state to the bad one, and back. */
  p: number;
  r: number;
  /** Chances in percent of a loss in the bad state (1-h) and in the good one (1-k). */
  loss_bad?: number | undefined;
  loss_good?: number | undefined;
}

/**
 * Losses in bursts: a line that is good or bad, frame by frame.
 * E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", Bell System Technical Journal 42 (1963).
 */
export class GilbertElliott {
  readonly #settings: { p: number; r: number; loss_bad: number; loss_good: number };
  readonly #random: Random;
  #bad = false;

  constructor({ p, r, loss_bad = 100, loss_good = 0 }: GilbertElliottSettings, random: Random) {
    this.#settings = { p, r, loss_bad, loss_good };
    this.#random = random;
    // As the line is at any moment, not good at first: short measurements see the same share of losses.
    this.#bad = p + r > 0 && random() * (p + r) < p;
  }

  loses(): boolean {
    const { p, r, loss_bad: bad, loss_good: good } = this.#settings;
    const lost = this.#random() * 100 < (this.#bad ? bad : good);
    if (this.#random() * 100 < (this.#bad ? r : p)) this.#bad = !this.#bad;
    return lost;
  }
}
