// A switch's table of MAC addresses by VLAN and the port of each. Nothing is allocated per frame. The native frame loop (addons/frame-loop)
// reads it, too, and updates when an address was last seen.

/** Maximum number of entries. */
export const MOST_ENTRIES = 16_384;
const FIRST_BUCKETS = 256;
const BUCKET_BYTES = 22;
/** Least time (ms) between two attempts to free entries of a full table. */
const SWEEP_MS = 1000;

export interface MacEntry {
  vlan: number;
  /** Upper 16 bits of the address. */
  high: number;
  /** Lower 32 bits. */
  low: number;
  seat: number;
  /** When last seen, in ms on the clock of `performance.now()`. */
  heard: number;
}

/** The table's columns in one buffer, one after the other. */
class Columns {
  readonly memory: ArrayBuffer;
  readonly heard: Float64Array;
  readonly lows: Uint32Array;
  readonly vlans: Uint32Array;
  readonly seats: Uint32Array;
  readonly highs: Uint16Array;

  constructor(buckets: number) {
    this.memory = new ArrayBuffer(buckets * BUCKET_BYTES);
    this.heard = new Float64Array(this.memory, 0, buckets);
    this.lows = new Uint32Array(this.memory, 8 * buckets, buckets);
    this.vlans = new Uint32Array(this.memory, 12 * buckets, buckets);
    this.seats = new Uint32Array(this.memory, 16 * buckets, buckets);
    this.highs = new Uint16Array(this.memory, 20 * buckets, buckets);
  }
}

/** An open-addressing hash table in columns, at most half full. A bucket with seat 0 is free. */
export class MacTable {
  /** Milliseconds until an entry that is not seen again expires. */
  ageing: number;
  #size = 0;
  #swept = -Infinity;
  // By bucket. Seats are stored plus one.
  #columns = new Columns(FIRST_BUCKETS);
  readonly #moved: (table: MacTable) => void;
  readonly #learned: (vlan: number, high: number, low: number) => void;

  /**
   * `moved` is called when the table gets a new buffer, which it does when entries are removed; `learned` when an address
   * is new, was expired, or is at another seat.
   */
  constructor(
    ageing: number,
    moved: (table: MacTable) => void = () => {},
    learned: (vlan: number, high: number, low: number) => void = () => {},
  ) {
    this.ageing = ageing;
    this.#moved = moved;
    this.#learned = learned;
  }

  /** The buffer: last seen, lower address part, VLAN, seat plus one, upper address part. */
  get columns(): ArrayBuffer {
    return this.#columns.memory;
  }

  get buckets(): number {
    return this.#columns.seats.length;
  }

  /** The port's seat; -1 for an unknown address. */
  find(vlan: number, high: number, low: number, now: number): number {
    const bucket = this.#bucket(vlan, high, low);
    return now - this.#columns.heard[bucket]! <= this.ageing ? this.#columns.seats[bucket]! - 1 : -1;
  }

  /** Learns the address at the seat; false if the table is full. */
  learn(vlan: number, high: number, low: number, seat: number, now: number): boolean {
    const bucket = this.#bucketFor(vlan, high, low, now);
    if (bucket === -1) return false;
    const isKnown = this.#columns.seats[bucket] === seat + 1 && now - this.#columns.heard[bucket]! <= this.ageing;
    this.#columns.seats[bucket] = seat + 1;
    this.#columns.heard[bucket] = now;
    if (!isKnown) this.#learned(vlan, high, low);
    return true;
  }

  /** The entry of an address; undefined if it is unknown or expired. */
  entry(vlan: number, high: number, low: number, now: number): MacEntry | undefined {
    const seat = this.find(vlan, high, low, now);
    return seat === -1
      ? undefined
      : { vlan, high, low, seat, heard: this.#columns.heard[this.#bucket(vlan, high, low)]! };
  }

  /** Notes that a known address was seen elsewhere at this time, and returns when it was last seen. */
  refresh(vlan: number, high: number, low: number, heard: number): number {
    const bucket = this.#bucket(vlan, high, low);
    if (this.#columns.seats[bucket] === 0) return -Infinity;
    const last = Math.max(heard, this.#columns.heard[bucket]!);
    this.#columns.heard[bucket] = last;
    return last;
  }

  /** Removes all entries that are not `kept`. */
  keep(kept: (entry: MacEntry) => boolean): void {
    this.#rebuild(this.#columns.seats.length, kept);
  }

  entries(now: number): MacEntry[] {
    return [...this.#all()].filter(({ heard }) => now - heard <= this.ageing);
  }

  /** The address's bucket, or the free one to use for it. */
  #bucket(vlan: number, high: number, low: number): number {
    const mask = this.#columns.seats.length - 1;
    let hash = Math.imul(low ^ Math.imul(vlan, 0x9e3779b1) ^ (high << 16), 0x85ebca6b);
    hash ^= hash >>> 15;
    let bucket = hash & mask;
    while (
      this.#columns.seats[bucket] !== 0 &&
      !(
        this.#columns.lows[bucket] === low &&
        this.#columns.highs[bucket] === high &&
        this.#columns.vlans[bucket] === vlan
      )
    ) {
      bucket = (bucket + 1) & mask;
    }
    return bucket;
  }

  /** The address's bucket, made if it has none; -1 if the table is full. */
  #bucketFor(vlan: number, high: number, low: number, now: number): number {
    let bucket = this.#bucket(vlan, high, low);
    if (this.#columns.seats[bucket] === 0) {
      if (2 * (this.#size + 1) > this.#columns.seats.length && !this.#makeRoom(now)) return -1;
      bucket = this.#bucket(vlan, high, low);
      this.#size++;
      this.#columns.vlans[bucket] = vlan;
      this.#columns.highs[bucket] = high;
      this.#columns.lows[bucket] = low;
    }
    return bucket;
  }

  #makeRoom(now: number): boolean {
    const most = 2 * MOST_ENTRIES;
    if (this.#columns.seats.length < most) {
      this.#rebuild(this.#columns.seats.length * 2, () => true);
      return true;
    }
    if (now - this.#swept < SWEEP_MS) return false;
    this.#swept = now;
    this.#rebuild(most, ({ heard }) => now - heard <= this.ageing);
    return this.#size < MOST_ENTRIES;
  }

  *#all(): Generator<MacEntry> {
    for (const [bucket, seat] of this.#columns.seats.entries()) {
      if (seat === 0) continue;
      yield {
        vlan: this.#columns.vlans[bucket]!,
        high: this.#columns.highs[bucket]!,
        low: this.#columns.lows[bucket]!,
        seat: seat - 1,
        heard: this.#columns.heard[bucket]!,
      };
    }
  }

  #rebuild(buckets: number, kept: (entry: MacEntry) => boolean): void {
    const entries = [...this.#all()].filter(kept);
    this.#columns = new Columns(buckets);
    this.#size = 0;
    for (const { vlan, high, low, seat, heard } of entries) {
      const bucket = this.#bucketFor(vlan, high, low, heard);
      this.#columns.seats[bucket] = seat + 1;
      this.#columns.heard[bucket] = heard;
    }
    this.#moved(this);
  }
}
