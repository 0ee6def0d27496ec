// A binary heap of things that are due at some time: the next one is at hand, and any can be taken out.

export interface DueEntry {
  /** Milliseconds on the clock of `performance.now()`. */
  due: number;
  /** Given by the heap: those due at the same time leave as they came. */
  sequence: number;
  /** Kept by the heap: its place there, -1 outside. */
  place: number;
}

/** Whether `left` leaves before `right`; equals leave as they came. */
function precedes(left: DueEntry, right: DueEntry): boolean {
  return left.due < right.due || (left.due === right.due && left.sequence < right.sequence);
}

export class DueHeap<Entry extends DueEntry> {
  readonly #entries: Entry[] = [];
  #sequence = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** When the next one is due, undefined when there is none. */
  get nextDue(): number | undefined {
    return this.#entries[0]?.due;
  }

  push(entry: Entry): void {
    entry.sequence = this.#sequence++;
    this.#entries.push(entry);
    this.#rise(entry, this.#entries.length - 1);
  }

  /** Takes out the next one that is due at `now`. */
  shift(now: number): Entry | undefined {
    const first = this.#entries[0];
    if (first === undefined || first.due > now) return undefined;
    this.remove(first);
    return first;
  }

  /** Takes out one that is in the heap. */
  remove(entry: Entry): void {
    const { place } = entry;
    entry.place = -1;
    const last = this.#entries.pop()!;
    if (last === entry) return;
    if (this.#sink(last, place) === place) this.#rise(last, place);
  }

  /** Puts the entry where it belongs, at `place` or above. */
  #rise(entry: Entry, place: number): void {
    const entries = this.#entries;
    let at = place;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!precedes(entry, entries[parent]!)) break;
      entries[at] = entries[parent]!;
      entries[at]!.place = at;
      at = parent;
    }
    entries[at] = entry;
    entry.place = at;
  }

  /** Puts the entry where it belongs, at `place` or below; answers where. */
  #sink(entry: Entry, place: number): number {
    const entries = this.#entries;
    let at = place;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && precedes(entries[child + 1]!, entries[child]!)) child++;
      if (!precedes(entries[child]!, entry)) break;
      entries[at] = entries[child]!;
      entries[at]!.place = at;
      at = child;
    }
    entries[at] = entry;
    entry.place = at;
    return at;
  }
}
