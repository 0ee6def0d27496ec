// The routes that the native frame loop may use without TypeScript, noted when a frame has taken them.
//
// Any change in the fabric invalidates all routes. The next frame of each socket goes through TypeScript, which notes its route again. So no
// change can be missed, and this adds little to the cost of building a lab.

import {
  type DEVICE_KINDS,
  type FrameLoop,
  MOST_DEVICES,
  MOST_ENDPOINTS,
  MOST_LEGS,
  MOST_SEATS,
} from '../../host/network/frame-loop.ts';
import type { CounterBlock } from './counter-memory.ts';

/** Maximum devices in a row within the native frame loop. */
const DEEPEST = 4;

/** Where frames enter: a port, from its device or from its cable. */
export interface PlainEntry {
  /** Its number in the native loop; -1 for none. */
  readonly leg: number;
  /** The route to the next device or socket; undefined if TypeScript must see the frames on it. */
  way(): PlainWay | undefined;
}

export interface PlainWay {
  /** Indexes of the counters of the directions on the route, at most two. */
  directions: readonly number[];
  /** Indexes of counter pairs (frames, bytes), at most two. */
  traffic: readonly number[];
  /** Index of the counter of frames that end here. */
  lost?: number;
  end: PlainSocket | PlainSeat | undefined;
}

export interface PlainSocket {
  /** Its number in the native loop; -1 for none. */
  readonly number: number;
}

export interface PlainSeat {
  readonly device: PlainDevice;
  readonly seat: number;
}

export interface PlainDevice {
  /** Its number in the native loop; -1 for none. */
  readonly number: number;
  /** What the native loop needs to know; undefined for a device that only TypeScript can handle. */
  plain(): PlainDeviceFacts | undefined;
}

export interface PlainDeviceFacts {
  kind: keyof typeof DEVICE_KINDS;
  /** Milliseconds until a switch forgets an address. */
  ageing: number;
  /** By seat; VLAN -1 means that TypeScript handles the frames. */
  seats: readonly ({ entry: PlainEntry; vlan: number } | undefined)[];
  /** A switch's table. */
  addresses?: { columns: ArrayBuffer; buckets: number };
}

/** Allocates small numbers. */
class Numbers {
  readonly #most: number;
  readonly #free: number[] = [];
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** -1 if all are in use. */
  take(): number {
    return this.#free.pop() ?? (this.#next < this.#most ? this.#next++ : -1);
  }

  give(number: number): void {
    if (number !== -1) this.#free.push(number);
  }
}

export class PlainRoutes {
  readonly legs = new Numbers(MOST_LEGS);
  readonly #loop: FrameLoop;
  readonly #endpoints = new Numbers(MOST_ENDPOINTS);
  readonly #devices = new Numbers(MOST_DEVICES);
  /** By endpoint: the generation in which its route was noted. */
  readonly #noted: number[] = [];
  /** By device: the generation and depth at which it was noted. */
  readonly #met: { generation: number; depth: number }[] = [];

  constructor(loop: FrameLoop) {
    this.#loop = loop;
  }

  /** Invalidates all routes after a change in the fabric. */
  changed(): void {
    this.#loop.nextGeneration();
  }

  /** A number for a socket, whose drops are counted in the block; -1 if there is none left. */
  addSocket(socket: number, leg: number, drops: CounterBlock): number {
    const number = drops.place === -1 || leg === -1 ? -1 : this.#endpoints.take();
    if (number === -1) return -1;
    this.#noted[number] = 0;
    if (this.#loop.setEndpoint(number, socket, leg, drops.place)) return number;
    this.#endpoints.give(number);
    return -1;
  }

  /** Counts longer frames of the socket as fragmented. */
  setWhole(number: number, bytes: number): void {
    if (number !== -1) this.#loop.setWhole(number, bytes);
  }

  /** Must be called before the socket is closed. */
  removeSocket(number: number, socket: number): void {
    if (number === -1) return;
    this.#loop.removeEndpoint(number, socket);
    this.#endpoints.give(number);
  }

  addDevice(): number {
    const number = this.#devices.take();
    if (number !== -1) this.#met[number] = { generation: 0, depth: 0 };
    return number;
  }

  removeDevice(number: number): void {
    if (number === -1) return;
    this.#loop.removeAddresses(number);
    this.#devices.give(number);
    this.changed();
  }

  /** Updates the location of a switch's table. */
  moveAddresses(number: number, columns: ArrayBuffer, buckets: number): void {
    if (number !== -1) this.#loop.setAddresses(number, columns, buckets);
  }

  /** Called when TypeScript handles a frame of the socket: notes its route unless it is noted already. */
  note(socket: number, entry: PlainEntry): void {
    const { generation } = this.#loop;
    if (this.#noted[socket] === generation) return;
    this.#noted[socket] = generation;
    this.#noteLeg(entry, 0);
  }

  #noteLeg(entry: PlainEntry, depth: number): void {
    if (entry.leg === -1) return;
    const way = entry.way();
    const { directions = [], traffic = [], lost = -1, end } = way ?? {};
    const base = { end: -1, seat: -1, directions, traffic, lost };
    if (way === undefined || directions.includes(-1)) {
      this.#loop.setLeg(entry.leg, { ...base, kind: 'typescript' });
    } else if (end === undefined) {
      this.#loop.setLeg(entry.leg, { ...base, kind: 'nowhere' });
    } else if ('seat' in end) {
      const { device, seat } = end;
      this.#loop.setLeg(entry.leg, { ...base, kind: 'device', end: device.number, seat });
      this.#noteDevice(device, depth + 1);
    } else {
      this.#loop.setLeg(entry.leg, { ...base, kind: 'socket', end: end.number });
    }
  }

  #noteDevice(device: PlainDevice, depth: number): void {
    if (device.number === -1 || depth > DEEPEST) return;
    const { generation } = this.#loop;
    const met = this.#met[device.number]!;
    // A device that was noted at the same or a smaller depth has everything behind it noted.
    if (met.generation === generation && met.depth <= depth) return;
    met.generation = generation;
    met.depth = depth;
    const facts = device.plain();
    // Frames to a port without a number would be lost.
    if (facts === undefined || facts.seats.length > MOST_SEATS || facts.seats.some((seat) => seat?.entry.leg === -1)) {
      this.#loop.setDevice(device.number, 'none', 0, []);
      return;
    }
    const { kind, ageing, seats, addresses } = facts;
    const noted = seats.map((seat) => seat && { leg: seat.entry.leg, vlan: seat.vlan });
    this.#loop.setDevice(device.number, kind, ageing, noted);
    if (addresses !== undefined) this.#loop.setAddresses(device.number, addresses.columns, addresses.buckets);
    for (const seat of seats) if (seat !== undefined) this.#noteLeg(seat.entry, depth);
  }
}
