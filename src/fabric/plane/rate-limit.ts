// A line of limited rate with a queue: decides when a frame leaves, or that it is dropped.

import type { DirectionImpairments } from '../../api/impairments.ts';

export type RateSettings = NonNullable<DirectionImpairments['rate']>;

/** Default size of the queue: this time, or this many bytes if that is more (ten full frames). */
const QUEUE_MS = 100;
const QUEUE_BYTES = 15_140;

const FIRST_ROOM = 64;

/** A token bucket, stored as the time when all accepted frames will have been sent. Times are in ms. */
export class RateLimit {
  #kbit = 1;
  #burst = 0;
  #mostMilliseconds = Infinity;
  #mostFrames = Infinity;
  #mostBytes = Infinity;
  /** When the line is idle with an empty bucket. */
  #free = 0;
  // Departure times of the waiting frames, oldest first: a ring buffer whose size is a power of two.
  #departures = new Float64Array(FIRST_ROOM);
  #lengths = new Uint32Array(FIRST_ROOM);
  #first = 0;
  #waiting = 0;
  #waitingBytes = 0;

  /** Frames already waiting keep their departure time. */
  change({ kbit, burst = 0, queue_ms, queue_frames, queue_bytes }: RateSettings): void {
    this.#kbit = kbit;
    this.#burst = (burst * 8) / kbit;
    this.#mostFrames = queue_frames ?? Infinity;
    const unlimited = queue_ms === undefined && queue_frames === undefined && queue_bytes === undefined;
    this.#mostMilliseconds = queue_ms ?? Infinity;
    this.#mostBytes = queue_bytes ?? (unlimited ? Math.max(QUEUE_BYTES, (QUEUE_MS * kbit) / 8) : Infinity);
  }

  /** When a frame of `length` bytes offered at `now` has left; -1 if the queue is full. */
  departure(now: number, length: number): number {
    this.#leave(now);
    const begin = Math.max(now, this.#free);
    const departure = Math.max(now, begin + (length * 8) / this.#kbit - this.#burst);
    // The frame being sent is not in the queue: an idle line accepts any frame.
    if (this.#waiting > 0) {
      const behind = this.#waiting - 1;
      if (behind >= this.#mostFrames || this.#queuedBytes() + length > this.#mostBytes) return -1;
      if (begin - this.#burst - now > this.#mostMilliseconds) return -1;
    }
    this.#free = begin + (length * 8) / this.#kbit;
    if (departure > now) this.#wait(departure, length);
    return departure;
  }

  /** Frames and bytes on the line or waiting for it. */
  queue(now: number): { frames: number; bytes: number } {
    this.#leave(now);
    return { frames: this.#waiting, bytes: this.#waitingBytes };
  }

  #queuedBytes(): number {
    return this.#waitingBytes - this.#lengths[this.#first]!;
  }

  #leave(now: number): void {
    while (this.#waiting > 0 && this.#departures[this.#first]! <= now) {
      this.#waitingBytes -= this.#lengths[this.#first]!;
      this.#first = (this.#first + 1) & (this.#departures.length - 1);
      this.#waiting--;
    }
  }

  #wait(departure: number, length: number): void {
    if (this.#waiting === this.#departures.length) this.#grow();
    const at = (this.#first + this.#waiting) & (this.#departures.length - 1);
    this.#departures[at] = departure;
    this.#lengths[at] = length;
    this.#waiting++;
    this.#waitingBytes += length;
  }

  #grow(): void {
    const size = this.#departures.length;
    const departures = new Float64Array(size * 2);
    const lengths = new Uint32Array(size * 2);
    for (let index = 0; index < size; index++) {
      const from = (this.#first + index) & (size - 1);
      departures[index] = this.#departures[from]!;
      lengths[index] = this.#lengths[from]!;
    }
    this.#departures = departures;
    this.#lengths = lengths;
    this.#first = 0;
  }
}
