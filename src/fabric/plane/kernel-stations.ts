// The addresses of switches for the programs of kernel links: an address that the fabric's switch has learned at a
// node's interface is written into the kernel's map, so that frames to it skip the fabric. All else, learning and
// ageing included, stays the switch's.

import {
  encodeStation,
  encodeStationKey,
  type FrameTarget,
  heardOf,
  MOST_SWITCHES,
  type SwitchSeat,
} from '../../host/network/cable-programs.ts';
import { type BpfMap, SystemError } from '../../host/system-calls.ts';
import type { MacEntry } from './mac-table.ts';
import { Timer, type Timers } from './timers.ts';

/** Learned addresses that may wait to be written; with more, all are compared. */
const MOST_WAITING = 1024;
/** How often addresses are read back, as a share of the time after which a switch forgets them, with limits in ms. */
const AGEING_PARTS = 10;
const LEAST_REFRESH_MS = 1_000;
const MOST_REFRESH_MS = 30_000;

/** What the kernel needs to know of a switch. */
export interface KernelSwitch {
  /** Milliseconds until an address is forgotten. */
  readonly ageing: number;
  /** The addresses that are known now. */
  addresses(now: number): Iterable<MacEntry>;
  address(vlan: number, high: number, low: number, now: number): MacEntry | undefined;
  /** Notes when the kernel has seen an address; returns when it was last seen at all. */
  seen(vlan: number, high: number, low: number, at: number): number;
  /** Whether the VLAN's frames leave the seat with a tag. */
  tags(seat: number, vlan: number): boolean;
}

/** A seat of a switch whose frames the kernel may forward. */
export interface KernelSeat extends Omit<SwitchSeat, 'switch'> {
  readonly device: KernelSwitch;
  readonly seat: number;
}

/** A node's interface at a seat. */
export type KernelStop = Readonly<FrameTarget>;

type Address = Pick<MacEntry, 'vlan' | 'high' | 'low'>;

function nameOf({ vlan, high, low }: Address): string {
  return `${vlan}/${high}/${low}`;
}

interface Written extends Address {
  key: Buffer;
  seat: number;
}

interface Known {
  readonly number: number;
  readonly stops: Map<number, KernelStop>;
  readonly written: Map<string, Written>;
  waiting: Address[];
  /** Whether all addresses have to be compared. */
  isStale: boolean;
}

export class KernelStations {
  readonly #map: BpfMap;
  readonly #refreshing: Timer;
  readonly #switches = new Map<KernelSwitch, Known>();
  readonly #free: number[] = [];
  #next = 0;
  #isDue = false;
  /** The monotonic clock's time, in ms, when `performance.now()` was 0. */
  readonly #origin = Number(process.hrtime.bigint()) / 1e6 - performance.now();

  constructor(map: BpfMap, timers: Timers) {
    this.#map = map;
    this.#refreshing = new Timer(timers, () => this.#refreshAll());
  }

  /** Must be called when a switch has learned an address, or has found it at another seat. */
  learned(device: KernelSwitch, vlan: number, high: number, low: number): void {
    const known = this.#switches.get(device);
    if (known === undefined) return;
    this.#isDue = true;
    // An answer to the frame that is being forwarded must not go where the address was before.
    const name = nameOf({ vlan, high, low });
    const written = known.written.get(name);
    if (written !== undefined) this.#erase(known, name, written);
    if (known.waiting.length < MOST_WAITING) known.waiting.push({ vlan, high, low });
    else known.isStale = true;
  }

  /** Must be called when a switch has forgotten addresses. */
  forgotten(device: KernelSwitch): void {
    const known = this.#switches.get(device);
    if (known === undefined) return;
    this.#isDue = known.isStale = true;
  }

  /** Seats a node's interface. Returns the number of the switch; undefined if there are too many switches. */
  enter({ device, seat }: KernelSeat, stop: KernelStop): number | undefined {
    let known = this.#switches.get(device);
    if (known === undefined) {
      const number = this.#free.pop() ?? this.#next++;
      if (number >= MOST_SWITCHES) {
        this.#next = MOST_SWITCHES;
        return undefined;
      }
      known = { number, stops: new Map(), written: new Map(), waiting: [], isStale: true };
      this.#switches.set(device, known);
    }
    known.stops.set(seat, stop);
    this.#isDue = known.isStale = true;
    if (!this.#refreshing.running) this.#refreshing.start(this.#patience());
    return known.number;
  }

  /** From now on frames to the seat go through the switch. */
  leave({ device, seat }: KernelSeat): void {
    const known = this.#switches.get(device);
    if (known === undefined) return;
    known.stops.delete(seat);
    for (const [name, written] of known.written) if (written.seat === seat) this.#erase(known, name, written);
    if (known.stops.size > 0) return;
    this.#switches.delete(device);
    this.#free.push(known.number);
    if (this.#switches.size === 0) this.#refreshing.stop();
  }

  /**
   * Brings the kernel's map up to date. `drain` is called before and after, to forward what waits at the ports, so that
   * hardly any frame is overtaken by a later one; `isLate` for those that were.
   */
  settle(drain: (ports: Iterable<KernelStop>, isLate: boolean) => void): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    for (const [device, known] of this.#switches) {
      if (!known.isStale && known.waiting.length === 0) continue;
      drain(known.stops.values(), false);
      const now = performance.now();
      const { isStale, waiting } = known;
      known.isStale = false;
      known.waiting = [];
      if (isStale) this.#compare(device, known, now);
      else for (const address of waiting) this.#put(device, known, address, now);
      drain(known.stops.values(), true);
    }
  }

  /** Lets a switch know when the kernel has last seen its addresses. */
  refresh(device: KernelSwitch): void {
    const known = this.#switches.get(device);
    if (known === undefined) return;
    const now = performance.now();
    for (const [name, written] of known.written) {
      const value = this.#map.get(written.key);
      const heard = value === undefined ? 0 : Number(heardOf(value)) / 1e6 - this.#origin;
      const last = device.seen(written.vlan, written.high, written.low, heard);
      if (now - last > device.ageing) this.#erase(known, name, written);
    }
  }

  #refreshAll(): void {
    for (const device of this.#switches.keys()) this.refresh(device);
    this.#refreshing.start(this.#patience());
  }

  #patience(): number {
    const shortest = Math.min(...[...this.#switches.keys()].map(({ ageing }) => ageing));
    return Math.min(MOST_REFRESH_MS, Math.max(LEAST_REFRESH_MS, shortest / AGEING_PARTS));
  }

  #compare(device: KernelSwitch, known: Known, now: number): void {
    const seen = new Set<string>();
    for (const entry of device.addresses(now)) seen.add(this.#write(device, known, entry));
    for (const [name, written] of known.written) if (!seen.has(name)) this.#erase(known, name, written);
  }

  #put(device: KernelSwitch, known: Known, { vlan, high, low }: Address, now: number): void {
    const entry = device.address(vlan, high, low, now);
    if (entry !== undefined) this.#write(device, known, entry);
  }

  /** Writes an address, or erases it if it is not at a node's interface. Returns its name. */
  #write(device: KernelSwitch, known: Known, { vlan, high, low, seat, heard }: MacEntry): string {
    const name = nameOf({ vlan, high, low });
    const written = known.written.get(name);
    const stop = known.stops.get(seat);
    if (stop === undefined) {
      if (written !== undefined) this.#erase(known, name, written);
      return name;
    }
    const key = written?.key ?? encodeStationKey(known.number, vlan, high, low);
    const at = BigInt(Math.round((heard + this.#origin) * 1e6));
    try {
      this.#map.set(key, encodeStation(key, { ...stop, isTagged: device.tags(seat, vlan), heard: at }));
      known.written.set(name, { key, vlan, high, low, seat });
    } catch (error) {
      // The map is full: the switch forwards the frames, as those of any address that the kernel does not know.
      if (!(error instanceof SystemError)) throw error;
    }
    return name;
  }

  #erase(known: Known, name: string, { key }: Written): void {
    this.#map.delete(key);
    known.written.delete(name);
  }
}
