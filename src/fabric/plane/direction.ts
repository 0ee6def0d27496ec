// One direction of a cable: decides by its impairments which frames arrive, and when.

import type { DirectionImpairments } from '../../api/impairments.ts';
import type { DirectionDropReason, DirectionStatistics, Drops, Impairments } from '../model.ts';
import type { HoldingDirection } from './delay-queue.ts';
import { DirectionCounters } from './direction-counters.ts';
import type { FramePlane } from './frame-plane.ts';
import { acts, ImpairmentPipeline } from './impairment-pipeline.ts';
import { corrupt, flipBit, Impairer, impairs } from './impairments.ts';
import type { FrameTaker } from './segmentation.ts';

export class Direction implements HoldingDirection {
  heldFrames = 0;
  heldBytes = 0;
  lastHeld = 0;
  readonly #plane: FramePlane;
  readonly #drops: Drops;
  readonly #pass: (slot: number, length: number) => void;
  readonly #counters: DirectionCounters;
  readonly #impaired: FrameTaker = { send: (slot, length) => this.#impair(slot, length) };
  #impairer: Impairer | undefined;
  #pipeline: ImpairmentPipeline | undefined;
  #open = true;

  /** `pass` receives the frames that arrive. */
  constructor(plane: FramePlane, drops: Drops, pass: (slot: number, length: number) => void) {
    this.#plane = plane;
    this.#drops = drops;
    this.#pass = pass;
    this.#counters = new DirectionCounters(plane.counters);
  }

  /** Index of the counters shared with the native frame loop; -1 if TypeScript must see the frames. */
  get plainPlace(): number {
    return this.isPlain ? this.#counters.place : -1;
  }

  /** Replaces the impairments of both directions. Held frames keep their arrival time. */
  impair(impairments: Impairments): void {
    this.#plane.changed();
    this.#impairer = impairs(impairments) ? new Impairer(impairments) : undefined;
  }

  /** Replaces the impairments of this direction only. Held frames keep their arrival time. */
  impairLine(settings: DirectionImpairments): void {
    this.#plane.changed();
    if (!acts(settings)) this.#pipeline = undefined;
    else if (this.#pipeline === undefined) this.#pipeline = new ImpairmentPipeline(settings);
    else this.#pipeline.change(settings);
  }

  /** Drops held frames; none may be offered afterwards. */
  cut(): void {
    this.#open = false;
    this.#counters.release();
  }

  /** Whether frames pass at once and unchanged. */
  get isPlain(): boolean {
    return this.#impairer === undefined && this.#pipeline === undefined;
  }

  /** Counts frames that the kernel has forwarded. */
  forwarded(bytes: number, frames: number): void {
    this.#counters.offered(bytes, frames);
    this.#counters.delivered(bytes, frames, performance.now());
  }

  /** Counts frames that later ones may have overtaken in the kernel. */
  overtaken(frames: number): void {
    this.#counters.overtaken(frames);
  }

  /** Applies the impairments to an offered frame. */
  offer(slot: number, length: number): void {
    const { segmentation, now } = this.#plane;
    if (this.#impairer !== undefined || this.#pipeline !== undefined) {
      segmentation.each(slot, length, this.#impaired);
    } else if (segmentation.isPlain(slot)) {
      this.#counters.offered(length, 1);
      this.#deliver(slot, length);
    } else {
      // Without impairments the frame passes unchanged.
      const [bytes, frames] = [segmentation.bytesIn(slot, length), segmentation.framesIn(slot)];
      this.#counters.offered(bytes, frames);
      this.#counters.delivered(bytes, frames, now);
      this.#pass(slot, length);
    }
  }

  /** Delivers a held frame that is due. */
  arrive(slot: number, length: number, since: number, number: number): void {
    if (!this.#open) return;
    this.#counters.held(number, this.#plane.now - since);
    this.#deliver(slot, length);
  }

  statistics(): DirectionStatistics {
    const now = performance.now();
    return {
      ...this.#counters.statistics(now),
      held: { frames: this.heldFrames, bytes: this.heldBytes },
      queue: this.#pipeline?.queue(now) ?? { frames: 0, bytes: 0 },
    };
  }

  resetStatistics(): void {
    this.#counters.reset(performance.now());
  }

  #deliver(slot: number, length: number): void {
    this.#counters.delivered(length, 1, this.#plane.now);
    this.#pass(slot, length);
  }

  #drop(reason: DirectionDropReason): void {
    this.#drops[reason]++;
    this.#counters.dropped(reason);
  }

  #impair(slot: number, length: number): void {
    const number = this.#counters.offered(length, 1);
    const impairer = this.#impairer;
    const pipeline = this.#pipeline;
    const loss = this.#lossOf(slot, length);
    if (loss !== undefined) {
      this.#drop(loss);
      return;
    }
    const alter = impairer?.corrupts() ? corrupt : pipeline?.corrupts() ? flipBit : undefined;
    if (alter !== undefined) this.#counters.corrupted();
    const { now } = this.#plane;
    const copies = pipeline?.duplicates() ? 2 : 1;
    if (copies === 2) this.#counters.duplicated();
    for (let copy = 0; copy < copies; copy++) {
      const arrival = pipeline === undefined ? now : pipeline.arrival(now, length);
      if (arrival === -1) this.#drop('rateQueue');
      else this.#send(slot, length, arrival + (impairer?.holdTime() ?? 0), now, number, alter);
    }
  }

  /** Why the frame is lost; undefined if it is not. */
  #lossOf(slot: number, length: number): DirectionDropReason | undefined {
    const impairer = this.#impairer;
    if (impairer?.catches(this.#plane.calls.slots[slot]!, length)) return 'packetFilters';
    return impairer?.loss() ?? (this.#pipeline?.loses() ? 'loss' : undefined);
  }

  /** Delivers the frame or holds it: after frames due at the same time, before later ones. */
  #send(
    slot: number,
    length: number,
    due: number,
    now: number,
    number: number,
    alter: typeof corrupt | undefined,
  ): void {
    if (due <= now && this.heldFrames === 0 && alter === undefined) {
      this.#counters.held(number, 0);
      this.#deliver(slot, length);
      return;
    }
    // An altered frame must be a copy, as others share the original; it goes through the delay queue.
    const frame = this.#plane.calls.slots[slot]!;
    if (!this.#plane.delays.push(this, frame, length, due, now, number, alter)) this.#drop('delayQueue');
  }
}
