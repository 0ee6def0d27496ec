// The maps of kernel links, which the programs at nodes' interfaces share with the fabric. They live as long as one of
// these programs, so that the next server can read what was counted while none ran.

import { BpfMap, openMapsOf, SystemError } from '../system-calls.ts';
import { programAt } from './interface-programs.ts';

/** Where a node's frames go: a value of the map of ways. It is one word, so that programs never see half of a change. */
export const WAY_BYTES = 8;
/** Frames and bytes that one node has sent in the kernel, and got through a switch: a value of the map of counters. */
const COUNTER_BYTES = 32;
/** A switch, a VLAN and an address: a key of the map of stations. */
export const STATION_KEY_BYTES = 12;
/** Where an address is: a value of the map of stations. */
export const STATION_BYTES = 24;

/** The interface and the lab of a port: a value of the map of owners. */
const OWNER_BYTES = 8;

/** The most addresses of switches that the programs of one thread know. */
const MOST_STATIONS = 1 << 16;

/** What the name of a node's program begins with; the number of its port follows. */
const PROGRAM_NAME = 'labwire port ';

/** The name of a node's program at its interface. */
export function programName(port: number): string {
  return PROGRAM_NAME + port;
}

/** Frames and bytes. */
export type Count = readonly [number, number];

/** What a port's node has sent in the kernel, and got through a switch. */
export interface PortCount {
  sent: Count;
  received: Count;
}

export const NO_COUNT: PortCount = { sent: [0, 0], received: [0, 0] };

export type MapDescriptors = Record<'ways' | 'owners' | 'counters' | 'bases' | 'stations', number>;

function decodeCount(value: Buffer): PortCount {
  const [frames, bytes, framesBack, bytesBack] = [0, 8, 16, 24].map((at) => Number(value.readBigUInt64LE(at)));
  return { sent: [frames!, bytes!], received: [framesBack!, bytesBack!] };
}

function encodeCount({ sent, received }: PortCount): Buffer {
  const value = Buffer.alloc(COUNTER_BYTES);
  // Counters that a server of an earlier release has left may be larger than any can be.
  for (const [index, number] of [...sent, ...received].entries())
    value.writeBigUInt64LE(BigInt.asUintN(64, BigInt(number)), index * 8);
  return value;
}

/** The maps that the programs of one thread share. */
export class KernelMaps {
  /** By port. */
  readonly ways: BpfMap;
  /** The interface of each port, and its lab: programs compare the target of a frame with it. */
  readonly #owners: BpfMap;
  readonly #counters: BpfMap;
  /** The counters of each port when its present cable was plugged in, or reset. */
  readonly #bases: BpfMap;
  readonly stations: BpfMap;

  /** @throws SystemError without CAP_BPF, or on a kernel without eBPF */
  constructor(ports: number) {
    using undo = new DisposableStack();
    const make = (...parts: Parameters<typeof BpfMap.create>): BpfMap => {
      const map = BpfMap.create(...parts);
      undo.defer(() => map.close());
      return map;
    };
    this.ways = make('ways', 'array', WAY_BYTES, ports);
    this.#owners = make('owners', 'array', OWNER_BYTES, ports);
    this.#counters = make('counters', 'array', COUNTER_BYTES, ports);
    this.#bases = make('bases', 'array', COUNTER_BYTES, ports);
    this.stations = make('stations', 'hash', STATION_BYTES, MOST_STATIONS, STATION_KEY_BYTES);
    undo.move();
  }

  get descriptors(): MapDescriptors {
    return {
      ways: this.ways.descriptor,
      owners: this.#owners.descriptor,
      counters: this.#counters.descriptor,
      bases: this.#bases.descriptor,
      stations: this.stations.descriptor,
    };
  }

  /** From now on frames may go to the port's interface, from ports of the same lab alone; 0: from none. */
  setOwner(port: number, index: number, lab: number): void {
    const value = Buffer.alloc(OWNER_BYTES);
    value.writeUInt32LE(index, 0);
    value.writeUInt32LE(lab, 4);
    this.#owners.set(port, value);
  }

  count(port: number): PortCount {
    return decodeCount(this.#counters.get(port)!);
  }

  /** Begins the counts of a port whose program does not count yet. */
  begin(port: number, count: PortCount): void {
    this.#counters.set(port, encodeCount(count));
    this.setBase(port, NO_COUNT);
  }

  /** What is counted from here on belongs to the present cable. */
  setBase(port: number, count: PortCount): void {
    this.#bases.set(port, encodeCount(count));
  }

  close(): void {
    for (const map of [this.ways, this.#owners, this.#counters, this.#bases, this.stations]) map.close();
  }
}

/** Counters that the program of an earlier server has left at a node's interface. */
export class LeftCounters implements Disposable {
  readonly #maps: ReadonlyMap<string, BpfMap>;
  readonly #port: number;

  private constructor(maps: ReadonlyMap<string, BpfMap>, port: number) {
    this.#maps = maps;
    this.#port = port;
  }

  /** Undefined without maps or CAP_SYS_ADMIN. */
  static find(link: string): LeftCounters | undefined {
    const program = programAt(link);
    if (program === undefined || !program.name.startsWith(PROGRAM_NAME)) return undefined;
    try {
      return new LeftCounters(openMapsOf(program.id), Number(program.name.slice(PROGRAM_NAME.length)));
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      return undefined;
    }
  }

  /** What was counted on the cable; final once another program has replaced that one. */
  read(): PortCount {
    const [counters, bases] = ['counters', 'bases'].map((name) => this.#maps.get(name));
    // Those of another release may look different.
    if (counters?.valueBytes !== COUNTER_BYTES || bases?.valueBytes !== COUNTER_BYTES) return NO_COUNT;
    const [all, base] = [counters, bases].map((map) => map.get(this.#port));
    if (all === undefined || base === undefined) return NO_COUNT;
    const [to, from] = [decodeCount(all), decodeCount(base)];
    const since = (key: keyof PortCount): Count => [to[key][0] - from[key][0], to[key][1] - from[key][1]];
    return { sent: since('sent'), received: since('received') };
  }

  [Symbol.dispose](): void {
    for (const map of this.#maps.values()) map.close();
  }
}
