// What a switch has learned: behind which port a MAC address was heard last, by VLAN. Nothing is allocated for a frame.

/** Entries that a table holds at the most. */
export const MOST_ENTRIES = 16_384;
const FIRST_BUCKETS = 256;
/** Milliseconds between two attempts to find room in a full table. */
const SWEEP_MILLISECONDS = 1000;

export interface MacEntry {
  vlan: number;
  /** The upper 16 bits of the address. */
  high: number;
  /** The lower 32 bits. */
  low: number;
  seat: number;
  /** Milliseconds on the clock of `performance.now()`. */
  heard: number;
}

/** A hash table with open addressing, in columns; at most half full. A bucket is free when its seat is 0. */
export class MacTable {
  /** Milliseconds for which an entry that is not heard again is kept. */
  ageing: number;
  #size = 0;
  #swept = -Infinity;
  // By bucket. Seats are kept plus one.
  #vlans = new Uint32Array(FIRST_BUCKETS);
  #highs = new Uint16Array(FIRST_BUCKETS);
  #lows = new Uint32Array(FIRST_BUCKETS);
  #seats = new Uint32Array(FIRST_BUCKETS);
  #heard = new Float64Array(FIRST_BUCKETS);

  constructor(ageing: number) {
    this.ageing = ageing;
  }

  /** The port's seat; -1 for an address that is not known. */
  find(vlan: number, high: number, low: number, now: number): number {
    const bucket = this.#bucket(vlan, high, low);
    return now - this.#heard[bucket]! <= this.ageing ? this.#seats[bucket]! - 1 : -1;
  }

  /** Notes where the address was heard; false when the table is full. */
  learn(vlan: number, high: number, low: number, seat: number, now: number): boolean {
    let bucket = this.#bucket(vlan, high, low);
    if (this.#seats[bucket] === 0) {
      if (2 * (this.#size + 1) > this.#seats.length && !this.#makeRoom(now)) return false;
      bucket = this.#bucket(vlan, high, low);
      this.#size++;
      this.#vlans[bucket] = vlan;
      this.#highs[bucket] = high;
      this.#lows[bucket] = low;
    }
    this.#seats[bucket] = seat + 1;
    this.#heard[bucket] = now;
    return true;
  }

  /** Forgets everything that is not `kept`. */
  keep(kept: (entry: MacEntry) => boolean): void {
    this.#rebuild(this.#seats.length, kept);
  }

  entries(now: number): MacEntry[] {
    return [...this.#all()].filter(({ heard }) => now - heard <= this.ageing);
  }

  /** The address's bucket, or the free one where it belongs. */
  #bucket(vlan: number, high: number, low: number): number {
    const mask = this.#seats.length - 1;
    let hash = Math.imul(low ^ Math.imul(vlan, 0x9e3779b1) ^ (high << 16), 0x85ebca6b);
    hash ^= hash >>> 15;
    let bucket = hash & mask;
    while (
      this.#seats[bucket] !== 0 &&
      !(this.#lows[bucket] === low && this.#highs[bucket] === high && this.#vlans[bucket] === vlan)
    ) {
      bucket = (bucket + 1) & mask;
    }
    return bucket;
  }

  #makeRoom(now: number): boolean {
    const most = 2 * MOST_ENTRIES;
    if (this.#seats.length < most) {
      this.#rebuild(this.#seats.length * 2, () => true);
      return true;
    }
    if (now - this.#swept < SWEEP_MILLISECONDS) return false;
    this.#swept = now;
    this.#rebuild(most, ({ heard }) => now - heard <= this.ageing);
    return this.#size < MOST_ENTRIES;
  }

  *#all(): Generator<MacEntry> {
    for (const [bucket, seat] of this.#seats.entries()) {
      if (seat === 0) continue;
      yield {
        vlan: this.#vlans[bucket]!,
        high: this.#highs[bucket]!,
        low: this.#lows[bucket]!,
        seat: seat - 1,
        heard: this.#heard[bucket]!,
      };
    }
  }

  #rebuild(buckets: number, kept: (entry: MacEntry) => boolean): void {
    const entries = [...this.#all()].filter(kept);
    this.#vlans = new Uint32Array(buckets);
    this.#highs = new Uint16Array(buckets);
    this.#lows = new Uint32Array(buckets);
    this.#seats = new Uint32Array(buckets);
    this.#heard = new Float64Array(buckets);
    this.#size = 0;
    for (const { vlan, high, low, seat, heard } of entries) this.learn(vlan, high, low, seat, heard);
  }
}
