// What the native frame loop may do without TypeScript: the ways of frames that nobody looks at, written down once a frame has taken them.
//
// Any change in the fabric makes all that is noted out of date. The next frame of each socket takes the way through TypeScript, and what it
// meets is noted again: so no change can be forgotten here, and a lab that is being built costs little more than that.

import {
  type DEVICE_KINDS,
  type FrameLoop,
  MOST_DEVICES,
  MOST_ENDPOINTS,
  MOST_LEGS,
  MOST_SEATS,
} from '../../host/network/frame-loop.ts';
import type { CounterBlock } from './counter-memory.ts';

/** Devices behind one another that a frame passes within the loop. */
const DEEPEST = 4;

/** Where frames come in: at a port, from its device or from its cable. */
export interface PlainEntry {
  /** Its number; -1 for none. */
  readonly leg: number;
  /** The way to the next device or socket; undefined when somebody looks at frames on it. */
  way(): PlainWay | undefined;
}

export interface PlainWay {
  /** Places of the counters of the directions that frames pass, two at the most. */
  directions: readonly number[];
  /** Places of pairs of frames and bytes, two at the most. */
  traffic: readonly number[];
  /** Place of a counter of frames that get no further. */
  lost?: number;
  end: PlainSocket | PlainSeat | undefined;
}

export interface PlainSocket {
  /** Its number; -1 for none. */
  readonly number: number;
}

export interface PlainSeat {
  readonly device: PlainDevice;
  readonly seat: number;
}

export interface PlainDevice {
  /** Its number; -1 for none. */
  readonly number: number;
  /** What the loop has to know; undefined for a device that is TypeScript alone. */
  plain(): PlainDeviceFacts | undefined;
}

export interface PlainDeviceFacts {
  kind: keyof typeof DEVICE_KINDS;
  /** Milliseconds for which a switch believes in an address. */
  ageing: number;
  /** By seat; the VLAN is -1 for frames that are TypeScript's. */
  seats: readonly ({ entry: PlainEntry; vlan: number } | undefined)[];
  /** A switch's table. */
  addresses?: { columns: ArrayBuffer; buckets: number };
}

/** Small numbers, each of which one thing has at a time. */
class Numbers {
  readonly #most: number;
  readonly #free: number[] = [];
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** -1 when there are no more. */
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
  /** By endpoint: the generation in which its way was noted. */
  readonly #noted: number[] = [];
  /** By device: the generation in which it was noted, and how far away it was. */
  readonly #met: { generation: number; depth: number }[] = [];

  constructor(loop: FrameLoop) {
    this.#loop = loop;
  }

  /** Something has changed: nothing that is noted holds any more. */
  changed(): void {
    this.#loop.nextGeneration();
  }

  /** A number for a socket, whose drops are counted in the block; -1 for one that must do without. */
  addSocket(socket: number, leg: number, drops: CounterBlock): number {
    const number = drops.place === -1 || leg === -1 ? -1 : this.#endpoints.take();
    if (number === -1) return -1;
    this.#noted[number] = 0;
    if (this.#loop.setEndpoint(number, socket, leg, drops.place)) return number;
    this.#endpoints.give(number);
    return -1;
  }

  /** To be called before the socket is closed. */
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

  /** A switch's table lies elsewhere from now on. */
  moveAddresses(number: number, columns: ArrayBuffer, buckets: number): void {
    if (number !== -1) this.#loop.setAddresses(number, columns, buckets);
  }

  /** The socket has received a frame: where the next one goes is noted, unless it is. */
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
    // One that was met as far away has all noted that lies behind it.
    if (met.generation === generation && met.depth <= depth) return;
    met.generation = generation;
    met.depth = depth;
    const facts = device.plain();
    // A port without a number would be passed over.
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
