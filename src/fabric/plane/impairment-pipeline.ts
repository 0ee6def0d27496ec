// The impairments of one direction, applied to each frame in a fixed order.

import type { DirectionImpairments } from '../../api/impairments.ts';
import { Chance, GilbertElliott, type Random } from './chance.ts';
import { Jitter } from './jitter.ts';
import { RateLimit } from './rate-limit.ts';

type Settings<Member extends keyof DirectionImpairments> = NonNullable<DirectionImpairments[Member]>;

/** Delays frames and lets some overtake. */
class Delay {
  readonly #settings: Settings<'delay'>;
  readonly #jitter: Jitter | undefined;

  constructor(settings: Settings<'delay'>, random: Random) {
    this.#settings = settings;
    const { jitter = 0, distribution = 'uniform', correlation = 0 } = settings;
    if (jitter > 0) this.#jitter = new Jitter(distribution, correlation, random);
  }

  get keepsOrder(): boolean {
    return this.#settings.keep_order ?? false;
  }

  /** The delay of the next frame in ms. */
  next(): number {
    const { ms, jitter = 0 } = this.#settings;
    return this.#jitter === undefined ? ms : Math.max(0, ms + jitter * this.#jitter.next());
  }
}

class Overtaking {
  readonly #chance: Chance;
  readonly #gap: number;
  #since = 0;

  constructor({ gap = 1, ...event }: Settings<'reorder'>, random: Random) {
    this.#chance = new Chance(event, random);
    this.#gap = gap;
  }

  /** Whether the next frame overtakes the held ones. */
  happens(): boolean {
    if (++this.#since < this.#gap || !this.#chance.happens()) return false;
    this.#since = 0;
    return true;
  }
}

export class ImpairmentPipeline {
  readonly #random: Random;
  #rate: RateLimit | undefined;
  #delay: Delay | undefined;
  #loss: Chance | undefined;
  #bursts: GilbertElliott | undefined;
  #duplicate: Chance | undefined;
  #overtaking: Overtaking | undefined;
  #corrupt: Chance | undefined;
  #lastArrival = 0;

  constructor(settings: DirectionImpairments, random: Random = Math.random) {
    this.#random = random;
    this.change(settings);
  }

  /** Accepted frames stay accepted: a new rate continues from the end of the queue. */
  change({ rate, delay, loss, burst_loss, duplicate, reorder, corrupt }: DirectionImpairments): void {
    const random = this.#random;
    if (rate === undefined) this.#rate = undefined;
    else {
      this.#rate ??= new RateLimit();
      this.#rate.change(rate);
    }
    this.#delay = delay && new Delay(delay, random);
    this.#loss = loss && new Chance(loss, random);
    this.#bursts = burst_loss && new GilbertElliott(burst_loss, random);
    this.#duplicate = duplicate && new Chance(duplicate, random);
    this.#overtaking = reorder && new Overtaking(reorder, random);
    this.#corrupt = corrupt && new Chance(corrupt, random);
  }

  /** Whether the next frame is lost. */
  loses(): boolean {
    const lost = this.#loss?.happens() ?? false;
    // Both chains must advance for each frame, whatever the other one decides.
    return (this.#bursts?.loses() ?? false) || lost;
  }

  /** Whether the next frame is altered. */
  corrupts(): boolean {
    return this.#corrupt?.happens() ?? false;
  }

  /** Whether the next frame is duplicated. */
  duplicates(): boolean {
    return this.#duplicate?.happens() ?? false;
  }

  /** When a frame of `length` bytes offered at `now` arrives, in ms; -1 if the rate limit's queue is full. */
  arrival(now: number, length: number): number {
    const departure = this.#rate === undefined ? now : this.#rate.departure(now, length);
    if (departure === -1 || this.#delay === undefined) return departure;
    if (this.#overtaking?.happens()) return departure;
    const arrival = departure + this.#delay.next();
    if (!this.#delay.keepsOrder) return arrival;
    this.#lastArrival = Math.max(this.#lastArrival, arrival);
    return this.#lastArrival;
  }

  /** Frames and bytes waiting for the rate limit. */
  queue(now: number): { frames: number; bytes: number } {
    return this.#rate?.queue(now) ?? { frames: 0, bytes: 0 };
  }
}

/** Whether these settings have any effect. */
export function acts(settings: DirectionImpairments): boolean {
  return Object.keys(settings).length > 0;
}
