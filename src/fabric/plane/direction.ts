// One direction of a cable: what its impairments leave of the frames, and when.

import type { Drops, Impairments } from '../model.ts';
import type { HoldingDirection } from './delay-queue.ts';
import type { FramePlane } from './frame-plane.ts';
import { corrupt, Impairer, impairs } from './impairments.ts';

export class Direction implements HoldingDirection {
  heldFrames = 0;
  heldBytes = 0;
  readonly #plane: FramePlane;
  readonly #drops: Drops;
  readonly #pass: (slot: number, length: number) => void;
  #impairer: Impairer | undefined;
  #open = true;

  /** `pass` is given the frames that arrive. */
  constructor(plane: FramePlane, drops: Drops, pass: (slot: number, length: number) => void) {
    this.#plane = plane;
    this.#drops = drops;
    this.#pass = pass;
  }

  /** Replaces the impairments. Frames that are held already arrive when they would have. */
  impair(impairments: Impairments): void {
    this.#impairer = impairs(impairments) ? new Impairer(impairments) : undefined;
  }

  cut(): void {
    this.#open = false;
  }

  /** Takes a frame that wants to pass. */
  offer(slot: number, length: number): void {
    if (this.#impairer === undefined) this.#pass(slot, length);
    else this.#impair(this.#impairer, slot, length);
  }

  /** A frame that was held is due. */
  arrive(slot: number, length: number): void {
    if (this.#open) this.#pass(slot, length);
  }

  #impair(impairer: Impairer, slot: number, length: number): void {
    const { delays, turn, calls } = this.#plane;
    const loss = impairer.catches(calls.slots[slot]!, length) ? 'packetFilters' : impairer.loss();
    if (loss !== undefined) {
      this.#drops[loss]++;
      return;
    }
    const altered = impairer.corrupts();
    const hold = impairer.holdTime();
    if (!altered && hold === 0) {
      this.#pass(slot, length);
      return;
    }
    // An altered frame is a copy, as others share the original, and takes the way of the held ones.
    if (!delays.hasRoom(this, length)) {
      this.#drops.delayQueue++;
      return;
    }
    const shared = turn.copyOf(slot, length);
    const bytes = altered ? Buffer.from(shared) : shared;
    if (altered) corrupt(bytes);
    delays.push({ due: performance.now() + hold, bytes, direction: this });
  }
}
