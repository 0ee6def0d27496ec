// The release's five filters: decides what happens to each frame.

import type { Impairments } from '../model.ts';
import { accepts } from './packet-filter.ts';

/** Decides about the frames of one direction. `random` returns numbers in [0, 1). */
export class Impairer {
  readonly #settings: Impairments;
  readonly #random: () => number;
  #count = 0;

  constructor(settings: Impairments, random: () => number = Math.random) {
    this.#settings = settings;
    this.#random = random;
  }

  /** Whether a packet filter drops the frame (its first `length` bytes). */
  catches(frame: Uint8Array, length: number): boolean {
    return this.#settings.packetFilters?.some((program) => accepts(program, frame, length)) ?? false;
  }

  /** Why the next frame is lost; undefined if it is not. */
  loss(): 'frequencyDrop' | 'packetLoss' | undefined {
    const { frequencyDrop = 0, packetLoss = 0 } = this.#settings;
    if (frequencyDrop === -1) return 'frequencyDrop';
    if (frequencyDrop > 0 && ++this.#count % frequencyDrop === 0) return 'frequencyDrop';
    return this.#happens(packetLoss) ? 'packetLoss' : undefined;
  }

  /** Whether the next frame is altered. */
  corrupts(): boolean {
    return this.#happens(this.#settings.corrupt ?? 0);
  }

  /** How long (ms) the next frame is held, 0 without a delay. */
  holdTime(): number {
    const { latency, jitter } = this.#settings.delay ?? { latency: 0, jitter: 0 };
    if (latency === 0) return 0;
    return Math.max(0, latency + (jitter === 0 ? 0 : (this.#random() * 2 - 1) * jitter));
  }

  #happens(percent: number): boolean {
    return percent > 0 && this.#random() * 100 < percent;
  }
}

/** Whether these settings have any effect. */
export function impairs({
  frequencyDrop = 0,
  packetLoss = 0,
  delay,
  corrupt = 0,
  packetFilters,
}: Impairments): boolean {
  const latency = delay?.latency ?? 0;
  return frequencyDrop !== 0 || packetLoss > 0 || corrupt > 0 || latency > 0 || (packetFilters?.length ?? 0) > 0;
}

/** Alters at least one byte and up to a quarter of the frame around its middle: each of these bytes changes. */
export function corrupt(bytes: Uint8Array, offset: number, length: number, random: () => number = Math.random): void {
  const altered = Math.max(1, length >> 2);
  const first = offset + ((length - altered) >> 1);
  for (let index = first; index < first + altered; index++) bytes[index]! ^= 1 + Math.floor(random() * 255);
}

/** Flips one bit of the frame. */
export function flipBit(bytes: Uint8Array, offset: number, length: number, random: () => number = Math.random): void {
  const bit = Math.floor(random() * length * 8);
  bytes[offset + (bit >> 3)]! ^= 1 << (bit & 7);
}
