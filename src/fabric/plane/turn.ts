// The frames in flight between two waits of the worker: they lie in slots, are handed on by slot, and leave together.

import { type FrameCalls, OFFLOAD_WORDS, SEGMENT_SLOTS, SLOTS } from '../../host/system-calls.ts';

/** Somebody who gathers slots and sends them when the turn ends. */
export interface Sender {
  flush(): void;
}

/** Somebody who puts off work to the end of the turn, or to the next one. */
export interface DeferredWork {
  /** Handles up to `budget` frames and answers how many it did; `busy` says whether more are left. */
  work(budget: number): number;
  readonly busy: boolean;
  /** The slots are about to be used again: copies what is left. */
  keep(): void;
}

/** Frames that devices in memory handle in one turn; beyond that, sockets and the main thread get their turn first. */
const DEVICES_BUDGET = 512;
/** Frames that one device handles before the next one. */
const DEVICE_QUANTUM = 32;

/** Slots that are left behind this one hold what is cut from one super-frame of common size, and a tagged copy of each frame. */
const MOST_SEGMENTS = SLOTS + SEGMENT_SLOTS / 2;

export class Turn {
  readonly #calls: FrameCalls;
  readonly #senders: Sender[] = [];
  #deferred: DeferredWork[] = [];
  readonly #copies: (Buffer | undefined)[] = new Array<undefined>(SLOTS + SEGMENT_SLOTS).fill(undefined);
  #next = 0;
  #nextSegment = SLOTS;
  /** Whether a slot may hold a frame that is not a plain one. */
  #offloads = false;

  constructor(calls: FrameCalls) {
    this.#calls = calls;
  }

  /** Free slots; none when super-frames have been cut into so many frames that another one might find no room for its own. */
  get room(): number {
    return this.#nextSegment > MOST_SEGMENTS ? 0 : SLOTS - this.#next;
  }

  /** Whether frames are left over for the next turn. */
  get unfinished(): boolean {
    return this.#deferred.length > 0;
  }

  /** The first free slot, where there is {@link room}. */
  get next(): number {
    return this.#next;
  }

  /** The next `count` slots hold frames of an interface. */
  occupy(count: number): void {
    this.#next += count;
    this.#offloads = true;
  }

  /** The slots before `end` hold packets, or have held them in this turn. */
  adopt(end: number): void {
    this.#next = end;
  }

  /** A slot for a frame that a super-frame is cut into. When none is left, the frames that were cut before leave first. */
  nextSegment(): number {
    if (this.#nextSegment === SLOTS + SEGMENT_SLOTS) this.#release();
    return this.#nextSegment++;
  }

  /** Slots that are left for frames that are made of others in this turn. */
  get spare(): number {
    return SLOTS + SEGMENT_SLOTS - this.#nextSegment;
  }

  /** A slot for a frame of `length` bytes that is made of another one; some must be {@link spare}. */
  takeSpare(length: number): number {
    const slot = this.#nextSegment++;
    this.#calls.setLength(slot, length);
    return slot;
  }

  /** Receives up to `count` packets into free slots. Answers their number or a negative errno; they start at slot `first`. */
  receive(socket: number, count: number): { first: number; count: number } {
    const first = this.#next;
    const received = this.#calls.receive(socket, first, Math.min(count, this.room));
    if (received > 0) this.#next += received;
    return { first, count: received };
  }

  /** Puts a frame into a free slot; there must be {@link room}. */
  place(bytes: Buffer, offset = 0, length = bytes.length): number {
    const slot = this.#next++;
    bytes.copy(this.#calls.slots[slot]!, 0, offset, offset + length);
    this.#calls.setLength(slot, length);
    return slot;
  }

  /** A copy of the slot's frame that lasts beyond the turn. Everybody in this turn gets the same copy. */
  copyOf(slot: number, length: number): Buffer {
    let copy = this.#copies[slot];
    if (copy === undefined) {
      copy = Buffer.allocUnsafeSlow(length);
      this.#calls.slots[slot]!.copy(copy, 0, 0, length);
      this.#copies[slot] = copy;
    }
    return copy;
  }

  /** To be flushed when the turn ends. */
  addSender(sender: Sender): void {
    this.#senders.push(sender);
  }

  deferWork(device: DeferredWork): void {
    this.#deferred.push(device);
  }

  /** Lets devices work, sends everything, and makes all slots free again. */
  end(): void {
    this.#work();
    this.#release();
    if (this.#offloads) this.#calls.offloads.fill(0, 0, this.#next * OFFLOAD_WORDS);
    this.#offloads = false;
    this.#copies.fill(undefined, 0, this.#next);
    this.#next = 0;
  }

  /** Sends everything, and makes the slots of cut frames free again. */
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
      // Devices that get work during this round are in the next one.
      const round = this.#deferred;
      this.#deferred = [];
      for (const device of round) {
        const handled = device.work(DEVICE_QUANTUM);
        done += handled;
        // Who found no slot is the first to have one in the next turn.
        if (device.busy && handled === 0) this.#deferred.unshift(device);
        else if (device.busy) this.#deferred.push(device);
      }
      budget -= done;
      if (done === 0) return;
    }
  }
}
