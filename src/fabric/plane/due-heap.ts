// A binary heap of entries by due time, from which any entry can be removed.

export interface DueEntry {
  /** Milliseconds on the clock of `performance.now()`. */
  due: number;
  /** Set by the heap to keep the order of entries due at the same time. */
  sequence: number;
  /** Index in the heap, set by the heap; -1 outside. */
  place: number;
}

/** Whether `left` comes before `right`; equal due times keep their order. */
function precedes(left: DueEntry, right: DueEntry): boolean {
  return left.due < right.due || (left.due === right.due && left.sequence < right.sequence);
}

export class DueHeap<Entry extends DueEntry> {
  readonly #entries: Entry[] = [];
  #sequence = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** When the next entry is due; undefined if the heap is empty. */
  get nextDue(): number | undefined {
    return this.#entries[0]?.due;
  }

  push(entry: Entry): void {
    entry.sequence = this.#sequence++;
    this.#entries.push(entry);
    this.#rise(entry, this.#entries.length - 1);
  }

  /** Removes the next entry that is due at `now`. */
  shift(now: number): Entry | undefined {
    const first = this.#entries[0];
    if (first === undefined || first.due > now) return undefined;
    this.remove(first);
    return first;
  }

  /** Removes an entry of the heap. */
  remove(entry: Entry): void {
    const { place } = entry;
    entry.place = -1;
    const last = this.#entries.pop()!;
    if (last === entry) return;
    if (this.#sink(last, place) === place) this.#rise(last, place);
  }

  /** Moves the entry up from `place` to its position. */
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

  /** Moves the entry down from `place` to its position, which is returned. */
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
