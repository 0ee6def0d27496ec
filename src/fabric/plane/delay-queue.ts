// Frames that are held back, in the order in which they are due. A frame never waits for another one.

/** A frame on its way, copied out of the slots. */
export interface HeldFrame {
  /** Milliseconds on the clock of `performance.now()`. */
  due: number;
  bytes: Buffer;
  direction: HoldingDirection;
}

/** One direction of a cable, as far as the queue knows it. */
export interface HoldingDirection {
  heldFrames: number;
  heldBytes: number;
  /** A frame of this direction is due and lies in the slot. */
  arrive(slot: number, length: number): void;
}

// 8,192 full-length frames a direction: a gigabit a second held for 100 ms, or 250 frames a second for the longest latency.
const DIRECTION_FRAMES = 8192;
const DIRECTION_BYTES = 16 << 20;
const ALL_FRAMES = 65_536;
const ALL_BYTES = 64 << 20;

type Entry = HeldFrame & { sequence: number };

/** Whether `left` leaves before `right`; equals leave as they came. */
function precedes(left: Entry, right: Entry): boolean {
  return left.due < right.due || (left.due === right.due && left.sequence < right.sequence);
}

/** A binary heap, bounded in frames and in bytes, for each direction of a cable and for all of them. */
export class DelayQueue {
  readonly #heap: Entry[] = [];
  #bytes = 0;
  #sequence = 0;

  /** Whether a frame of `length` bytes would be taken. */
  hasRoom(direction: HoldingDirection, length: number): boolean {
    return (
      direction.heldFrames < DIRECTION_FRAMES &&
      direction.heldBytes + length <= DIRECTION_BYTES &&
      this.#heap.length < ALL_FRAMES &&
      this.#bytes + length <= ALL_BYTES
    );
  }

  push(frame: HeldFrame): void {
    frame.direction.heldFrames++;
    frame.direction.heldBytes += frame.bytes.length;
    this.#bytes += frame.bytes.length;
    const heap = this.#heap;
    const entry = { ...frame, sequence: this.#sequence++ };
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!precedes(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  /** When the next frame is due, undefined when none waits. */
  get nextDue(): number | undefined {
    return this.#heap[0]?.due;
  }

  /** Takes out the next frame that is due at `now`. */
  shift(now: number): HeldFrame | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.due > now) return undefined;
    this.#removeFirst();
    first.direction.heldFrames--;
    first.direction.heldBytes -= first.bytes.length;
    this.#bytes -= first.bytes.length;
    return first;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && precedes(heap[child + 1]!, heap[child]!)) child++;
      if (!precedes(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}
