// The native loop that forwards plain frames between UDP sockets (addons/frame-loop), and the memory it shares with
// TypeScript.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { internal } from '../../failures.ts';
import { isPackaged } from '../files/assets.ts';
import { loadAddon } from '../processes/addons.ts';
import { SystemError } from '../system-calls.ts';

/** Offsets and capacities from addons/frame-loop/frame_loop.h. They must equal those that the addon reports. */
const LAYOUT = {
  slots: 64,
  slotBytes: 17 * 4096,
  events: 16,
  descriptors: 65_536,
  endpoints: 32_768,
  legs: 32_768,
  devices: 4096,
  seats: 128,
  counters: 1_048_576,
  mostBuckets: 65_536,
  ready: 16,
  lengths: 64,
  segments: 128,
  sockets: 256,
  endpoint: 65_792,
  leg: 327_936,
  device: 852_224,
  deviceWords: 264,
  words: 1_933_568,
  bucketBytes: 22,
} as const;

const ENDPOINT_WORDS = 8;
const WHOLE = 7;
const LEG_WORDS = 16;
const SEAT_WORDS = 2;
const GENERATION = 0;
const HANDED_SOCKET = 1;
const HANDED_FIRST = 2;
const HANDED_COUNT = 3;

/** The longest frame that is sent in runs, until the path reports a lower limit. */
const LONGEST_IN_RUNS_BYTES = 65_535;

/** Capacities of the loop. Objects with higher numbers are handled in TypeScript. */
export const { endpoints: MOST_ENDPOINTS, legs: MOST_LEGS, devices: MOST_DEVICES, seats: MOST_SEATS } = LAYOUT;

/** Numbers in the memory of counters. */
export const MOST_COUNTERS = LAYOUT.counters;

/** Counters that the loop keeps per direction, by offset in the direction's block. They come first in it. */
export const DIRECTION_COUNTERS = {
  offeredFrames: 0,
  offeredBytes: 1,
  deliveredFrames: 2,
  deliveredBytes: 3,
  windowStart: 4,
  windowBytes: 5,
  /** Kilobits a second, in the last window. */
  rate: 6,
} as const;

/** Counters of frames that an endpoint could not send, by offset in its block. */
export const SEND_DROPS = { sendQueue: 0, tooLong: 1, sendFailed: 2 } as const;
/** Offset of the counter of frames that it has sent in fragments. */
export const FRAGMENTED = 3;
/** Length of that block. */
export const SEND_COUNTERS = 4;

/** A leg's target: TypeScript code, a socket, a device in memory, or none. */
const LEG_KINDS = { typescript: 0, socket: 1, device: 2, nowhere: 3 } as const;

export const DEVICE_KINDS = { none: 0, hub: 1, switch: 2 } as const;

/** The path of a frame from its source to a socket or a device. Counters are offsets in the memory of counters. */
export interface Leg {
  kind: keyof typeof LEG_KINDS;
  /** Number of the endpoint or the device. */
  end: number;
  /** Number of the seat at the device. */
  seat: number;
  /** Blocks of {@link DIRECTION_COUNTERS}, at most two. */
  directions: readonly number[];
  /** Pairs of frames and bytes, at most two. */
  traffic: readonly number[];
  /** Counts frames that are not delivered; -1 for none. */
  lost: number;
}

/** A seat of a device: its leg and its VLAN; -1 for a VLAN whose frames TypeScript handles. */
export interface Seat {
  leg: number;
  vlan: number;
}

interface Addon {
  /** Missing in an incompatible addon. */
  layout?: number[];
  create(frames: Uint8Array, table: ArrayBuffer, counters: ArrayBuffer, now: number): object;
  setAddresses(loop: object, device: number, columns: ArrayBuffer | undefined, buckets: number): void;
  wait(loop: object, poller: number, milliseconds: number): number;
}

/** The addon's file; built by bin/addons.mjs. */
const FILE = 'frame_loop.node';

function load(): Addon {
  const built = join(import.meta.dirname, '../../../native', process.arch, FILE);
  const addon = (isPackaged() ? loadAddon(FILE) : createRequire(import.meta.url)(built)) as Addon;
  if (addon.layout?.join() !== Object.values(LAYOUT).join())
    throw internal(`${FILE} is of another version: run "npm run addons"`);
  return addon;
}

/** One per thread. */
export class FrameLoop {
  readonly #addon: Addon;
  readonly #loop: object;
  readonly #table: Int32Array<ArrayBuffer>;

  /**
   * @param frames the slots that packets are received into @param counters {@link MOST_COUNTERS} numbers
   * @throws when the addon is missing, incompatible or cannot be loaded
   */
  constructor(frames: Uint8Array, counters: Float64Array<ArrayBuffer>) {
    this.#addon = load();
    // Reserved for the maximum; only the pages used take memory.
    this.#table = new Int32Array(new ArrayBuffer(LAYOUT.words * 4));
    this.#table[GENERATION] = 1;
    this.#loop = this.#addon.create(frames, this.#table.buffer, counters.buffer, performance.now());
  }

  /** Entries written under another generation are out of date. */
  get generation(): number {
    return this.#table[GENERATION]!;
  }

  nextGeneration(): void {
    // Never 0, the value of unused memory.
    this.#table[GENERATION] = (this.#table[GENERATION]! % 0x7fff_ffff) + 1;
  }

  /**
   * Forwards plain frames until TypeScript has work, or for so many milliseconds (-1: no limit). Returns the number of
   * readable descriptors. All slots must be free.
   */
  wait(poller: number, milliseconds: number): number {
    const ready = this.#addon.wait(this.#loop, poller, milliseconds);
    if (ready < 0) throw new SystemError('epoll_wait', -ready);
    return ready;
  }

  readyDescriptor(index: number): number {
    return this.#table[LAYOUT.ready + index]!;
  }

  /** Packets that {@link wait} received but did not forward; they are in slots from {@link handedFirst} on. */
  get handedCount(): number {
    return this.#table[HANDED_COUNT]!;
  }

  get handedFirst(): number {
    return this.#table[HANDED_FIRST]!;
  }

  /** The socket that received them. */
  get handedSocket(): number {
    return this.#table[HANDED_SOCKET]!;
  }

  handedLength(slot: number): number {
    return this.#table[LAYOUT.lengths + slot]!;
  }

  /** Length of each of the packets in the slot except the last one; 0 if there is only one. */
  handedSegment(slot: number): number {
    return this.#table[LAYOUT.segments + slot]!;
  }

  /**
   * Registers a socket: frames that it receives take the leg; frames it cannot send are counted in the block `drops`.
   * False if the loop cannot take it.
   */
  setEndpoint(endpoint: number, socket: number, leg: number, drops: number): boolean {
    if (socket >= LAYOUT.descriptors) return false;
    this.#table.set(
      [socket, leg, LONGEST_IN_RUNS_BYTES, 1, drops, 0, 0, 0],
      LAYOUT.endpoint + endpoint * ENDPOINT_WORDS,
    );
    this.#table[LAYOUT.sockets + socket] = endpoint + 1;
    return true;
  }

  /** Counts longer frames of the endpoint as fragmented. */
  setWhole(endpoint: number, bytes: number): void {
    this.#table[LAYOUT.endpoint + endpoint * ENDPOINT_WORDS + WHOLE] = bytes;
  }

  /** Call this before the socket is closed. */
  removeEndpoint(endpoint: number, socket: number): void {
    this.#table[LAYOUT.sockets + socket] = 0;
    this.#table[LAYOUT.endpoint + endpoint * ENDPOINT_WORDS] = -1;
  }

  setLeg(leg: number, { kind, end, seat, directions, traffic, lost }: Leg): void {
    const [firstDirection = -1, secondDirection = -1] = directions;
    const [firstTraffic = -1, secondTraffic = -1] = traffic;
    const counted = [firstDirection, secondDirection, firstTraffic, secondTraffic, lost];
    this.#table.set([this.generation, LEG_KINDS[kind], end, seat, ...counted], LAYOUT.leg + leg * LEG_WORDS);
  }

  /** Writes a device; `seats` by their number, at most {@link MOST_SEATS}. */
  setDevice(
    device: number,
    kind: keyof typeof DEVICE_KINDS,
    ageing: number,
    seats: readonly (Seat | undefined)[],
  ): void {
    const at = LAYOUT.device + device * LAYOUT.deviceWords;
    this.#table.set([this.generation, DEVICE_KINDS[kind], seats.length, Math.min(ageing, 0x7fff_ffff)], at);
    const words = seats.flatMap((seat) => (seat === undefined ? [0, -1] : [seat.leg + 1, seat.vlan]));
    this.#table.set(words, at + LAYOUT.deviceWords - LAYOUT.seats * SEAT_WORDS);
  }

  /** Lets the loop read a switch's addresses: see plane/mac-table.ts. */
  setAddresses(device: number, columns: ArrayBuffer, buckets: number): void {
    this.#addon.setAddresses(this.#loop, device, columns, buckets);
  }

  /** Releases the memory of a switch's addresses. */
  removeAddresses(device: number): void {
    this.#addon.setAddresses(this.#loop, device, undefined, 0);
  }
}
