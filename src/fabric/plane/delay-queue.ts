// A queue of held frames, ordered by due time.

import { FrameStore, type Slab } from './frame-store.ts';

/** One direction of a cable, as the queue uses it. */
export interface HoldingDirection {
  heldFrames: number;
  heldBytes: number;
  /** The entry of the direction's last frame; used by the queue only. */
  lastHeld: number;
  /**
   * Called when a held frame of this direction is due; it is in the slot.
   * @param since when it was offered, in ms
   * @param number its sequence number among the offered frames
   */
  arrive(slot: number, length: number, since: number, number: number): void;
}

/** Copies a frame from `bytes` at `offset` into a slot and returns the slot. */
export type Place = (bytes: Buffer, offset: number, length: number) => number;

// Enough for 1 Gbit/s held for 250 ms, or a million frames of 1,000 bytes per second held for 65 ms.
const DIRECTION_FRAMES = 65_536;
const DIRECTION_BYTES = 32 << 20;
const ALL_FRAMES = 262_144;
const ALL_BYTES = 128 << 20;

const FIRST_ROOM = 256;

/** No entry. */
const NONE = 0xffff_ffff;

// Fields of an entry: eight numbers, which fill one cache line.
const DUE = 0;
const SEQUENCE = 1;
const SINCE = 2;
const NUMBER = 3;
const OFFSET = 4;
const LENGTH = 5;
const NEXT = 6;
const RECORD = 8;

/**
 * Successive frames of a direction that are due in order form a chain, and only the first of each chain is in a binary heap. With constant
 * delays the heap is as small as the number of directions. Frames and bytes are limited per direction and in total. Nothing is allocated
 * per frame: its bytes are in a slab, its fields in an entry.
 */
export class DelayQueue {
  readonly #store = new FrameStore(ALL_BYTES);
  /** Number of held frames. */
  #size = 0;
  #room = 0;
  // The heap: the due time and first entry of each chain.
  #chains = 0;
  #dues = new Float64Array(0);
  #entries = new Uint32Array(0);
  #records = new Float64Array(0);
  /** The free entries, from index `size` on. */
  #free = new Uint32Array(0);
  readonly #slabs: (Slab | undefined)[] = [];
  readonly #directions: (HoldingDirection | undefined)[] = [];
  #sequence = 0;

  /** Memory reserved for frames, in bytes. */
  get memory(): number {
    return this.#store.bytes;
  }

  /**
   * Stores a copy of the first `length` bytes of a frame; false if there is no room.
   * @param alter changes the copy
   */
  push(
    direction: HoldingDirection,
    frame: Buffer,
    length: number,
    due: number,
    since: number,
    number: number,
    alter?: (bytes: Buffer, offset: number, length: number) => void,
  ): boolean {
    if (direction.heldFrames >= DIRECTION_FRAMES || direction.heldBytes + length > DIRECTION_BYTES) return false;
    const slab = this.#size < ALL_FRAMES ? this.#store.slabFor(length) : undefined;
    if (slab === undefined) return false;
    if (this.#size === this.#room) this.#grow();
    const entry = this.#free[this.#size]!;
    const last = direction.lastHeld;
    // Unless the entry was freed and reused for another direction or this frame.
    const follows = direction.heldFrames > 0 && last !== entry && this.#directions[last] === direction;
    const offset = this.#store.take(slab);
    frame.copy(slab.bytes, offset, 0, length);
    alter?.(slab.bytes, offset, length);
    this.#slabs[entry] = slab;
    this.#directions[entry] = direction;
    const records = this.#records;
    const at = entry * RECORD;
    records[at + DUE] = due;
    records[at + SEQUENCE] = this.#sequence++;
    records[at + SINCE] = since;
    records[at + NUMBER] = number;
    records[at + OFFSET] = offset;
    records[at + LENGTH] = length;
    records[at + NEXT] = NONE;
    this.#size++;
    // A frame that overtakes gets its own chain; the next frame can still extend the old one.
    const overtakes = follows && due < records[last * RECORD + DUE]!;
    if (follows && !overtakes) records[last * RECORD + NEXT] = entry;
    else this.#rise(this.#chains++, due, entry);
    if (!overtakes) direction.lastHeld = entry;
    direction.heldFrames++;
    direction.heldBytes += length;
    return true;
  }

  /** When the next frame is due; undefined if none is held. */
  get nextDue(): number | undefined {
    return this.#chains === 0 ? undefined : this.#dues[0];
  }

  /** Removes the next frame, places it and delivers it to its direction; false if none is due at `now`. */
  release(now: number, place: Place): boolean {
    if (this.#chains === 0 || this.#dues[0]! > now) return false;
    const entry = this.#entries[0]!;
    const [slab, direction] = [this.#slabs[entry]!, this.#directions[entry]!];
    const records = this.#records;
    const at = entry * RECORD;
    const [since, number, next] = [records[at + SINCE]!, records[at + NUMBER]!, records[at + NEXT]!];
    const [offset, length] = [records[at + OFFSET]!, records[at + LENGTH]!];
    const slot = place(slab.bytes, offset, length);
    this.#store.give(slab, offset);
    this.#slabs[entry] = undefined;
    this.#directions[entry] = undefined;
    direction.heldFrames--;
    direction.heldBytes -= length;
    this.#size--;
    this.#free[this.#size] = entry;
    if (next !== NONE) this.#sink(records[next * RECORD + DUE]!, next);
    else if (--this.#chains > 0) this.#sink(this.#dues[this.#chains]!, this.#entries[this.#chains]!);
    direction.arrive(slot, length, since, number);
    return true;
  }

  /** Whether the frame comes before the one at index `at`; equal due times keep their order. */
  #precedes(due: number, entry: number, at: number): boolean {
    const other = this.#dues[at]!;
    return due < other || (due === other && this.#sequenceOf(entry) < this.#sequenceOf(this.#entries[at]!));
  }

  #sequenceOf(entry: number): number {
    return this.#records[entry * RECORD + SEQUENCE]!;
  }

  #set(at: number, due: number, entry: number): void {
    this.#dues[at] = due;
    this.#entries[at] = entry;
  }

  #rise(from: number, due: number, entry: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#precedes(due, entry, parent)) break;
      this.#set(at, this.#dues[parent]!, this.#entries[parent]!);
      at = parent;
    }
    this.#set(at, due, entry);
  }

  #sink(due: number, entry: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#chains) break;
      if (child + 1 < this.#chains && this.#precedes(this.#dues[child + 1]!, this.#entries[child + 1]!, child)) child++;
      if (this.#precedes(due, entry, child)) break;
      this.#set(at, this.#dues[child]!, this.#entries[child]!);
      at = child;
    }
    this.#set(at, due, entry);
  }

  /** Doubles the number of entries. Memory is never returned: some 100 bytes per entry. */
  #grow(): void {
    const before = this.#room;
    this.#room = Math.max(FIRST_ROOM, before * 2);
    this.#dues = moved(this.#dues, new Float64Array(this.#room));
    this.#records = moved(this.#records, new Float64Array(this.#room * RECORD));
    this.#entries = moved(this.#entries, new Uint32Array(this.#room));
    this.#free = moved(this.#free, new Uint32Array(this.#room));
    for (let entry = before; entry < this.#room; entry++) this.#free[entry] = entry;
  }
}

/** The larger array, filled with the content of the smaller one. */
function moved<Numbers extends Float64Array | Uint32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
