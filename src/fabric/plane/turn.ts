// The frames of one turn of the worker: stored in slots, passed on by slot number and sent together at the end.

import { type FrameCalls, OFFLOAD_WORDS, SEGMENT_SLOTS, SLOTS } from '../../host/system-calls.ts';

/** Collects slots and sends them at the end of the turn. */
export interface Sender {
  flush(): void;
}

/** Work deferred to the end of the turn, or to the next one. */
export interface DeferredWork {
  /** Handles up to `budget` frames and returns their number; `busy` is true if more are left. */
  work(budget: number): number;
  readonly busy: boolean;
  /** Copies the remaining frames, as their slots are about to be reused. */
  keep(): void;
}

/** Frames handled by devices in memory per turn, before sockets and the main thread get their turn. */
const DEVICES_BUDGET = 512;
/** Frames handled by one device before the next one. */
const DEVICE_QUANTUM = 32;

/** Behind this slot there is room to cut one super-frame of common size, and for a tagged copy of each frame. */
const MOST_SEGMENTS = SLOTS + SEGMENT_SLOTS / 2;

export class Turn {
  readonly #calls: FrameCalls;
  readonly #senders: Sender[] = [];
  #deferred: DeferredWork[] = [];
  readonly #copies: (Buffer | undefined)[] = new Array<undefined>(SLOTS + SEGMENT_SLOTS).fill(undefined);
  #next = 0;
  #nextSegment = SLOTS;
  /** Whether a slot may have a frame that is not plain. */
  #offloads = false;

  constructor(calls: FrameCalls) {
    this.#calls = calls;
  }

  /** Free slots; 0 if so many super-frames were cut that another might not fit. */
  get room(): number {
    return this.#nextSegment > MOST_SEGMENTS ? 0 : SLOTS - this.#next;
  }

  /** Whether frames are left for the next turn. */
  get unfinished(): boolean {
    return this.#deferred.length > 0;
  }

  /** The first free slot; only valid if there is {@link room}. */
  get next(): number {
    return this.#next;
  }

  /** Marks the next `count` slots as used by frames of an interface. */
  occupy(count: number): void {
    this.#next += count;
    this.#offloads = true;
  }

  /** Marks the slots before `end` as used in this turn. */
  adopt(end: number): void {
    this.#next = end;
  }

  /** A slot for a segment of a super-frame. If none is left, the earlier segments are sent first. */
  nextSegment(): number {
    if (this.#nextSegment === SLOTS + SEGMENT_SLOTS) this.#release();
    return this.#nextSegment++;
  }

  /** Free slots for frames made from others in this turn. */
  get spare(): number {
    return SLOTS + SEGMENT_SLOTS - this.#nextSegment;
  }

  /** A slot for a frame of `length` bytes made from another; some must be {@link spare}. */
  takeSpare(length: number): number {
    const slot = this.#nextSegment++;
    this.#calls.setLength(slot, length);
    return slot;
  }

  /** Receives up to `count` packets into free slots, from slot `first` on. Returns their number or a negative errno. */
  receive(socket: number, count: number): { first: number; count: number } {
    const first = this.#next;
    const received = this.#calls.receive(socket, first, Math.min(count, this.room));
    if (received > 0) this.#next += received;
    return { first, count: received };
  }

  /** Copies a frame into a free slot; there must be {@link room}. */
  place(bytes: Buffer, offset = 0, length = bytes.length): number {
    const slot = this.#next++;
    bytes.copy(this.#calls.slots[slot]!, 0, offset, offset + length);
    this.#calls.setLength(slot, length);
    return slot;
  }

  /** A copy of the slot's frame that outlasts the turn; shared by all users in this turn. */
  copyOf(slot: number, length: number): Buffer {
    let copy = this.#copies[slot];
    if (copy === undefined) {
      copy = Buffer.allocUnsafeSlow(length);
      this.#calls.slots[slot]!.copy(copy, 0, 0, length);
      this.#copies[slot] = copy;
    }
    return copy;
  }

  /** Registers the sender to be flushed at the end of the turn. */
  addSender(sender: Sender): void {
    this.#senders.push(sender);
  }

  deferWork(device: DeferredWork): void {
    this.#deferred.push(device);
  }

  /** Lets devices work, sends all frames and frees the slots. */
  end(): void {
    this.#work();
    this.#release();
    if (this.#offloads) this.#calls.offloads.fill(0, 0, this.#next * OFFLOAD_WORDS);
    this.#offloads = false;
    this.#copies.fill(undefined, 0, this.#next);
    this.#next = 0;
  }

  /** Sends all frames and frees the segments' slots. */
  #release(): void {
    for (const sender of this.#senders) sender.flush();
    this.#senders.length = 0;
    for (const device of this.#deferred) device.keep();
    this.#copies.fill(undefined, SLOTS, this.#nextSegment);
    this.#nextSegment = SLOTS;
  }

  #work(): void {
    let budget = DEVICES_BUDGET;
    while (this.#deferred.length > 0 && budget > 0) {
      let done = 0;
      // Devices that get work during this round wait for the next one.
      const round = this.#deferred;
      this.#deferred = [];
      for (const device of round) {
        const handled = device.work(DEVICE_QUANTUM);
        done += handled;
        // A device that found no free slot comes first in the next turn.
        if (device.busy && handled === 0) this.#deferred.unshift(device);
        else if (device.busy) this.#deferred.push(device);
      }
      budget -= done;
      if (done === 0) return;
    }
  }
}
