// The fabric as the rest of the program sees it: devices in memory, ports and their cables. The frames move in worker threads.

import { EventEmitter } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Failure } from '../failures.ts';
import { type Device, FabricPort, wireDevice } from './fabric-port.ts';
import { type Crash, FabricThread, type Recovery } from './fabric-thread.ts';
import { MemoryDevice } from './memory-device.ts';
import type { DeviceKind, FabricTotals, InterfaceChange, Output, Settings } from './model.ts';
import { add, noTotals, sumOf } from './totals.ts';

export type { CaptureFile, CaptureFileOptions } from './capture-file.ts';
export type { Device, FabricPort } from './fabric-port.ts';
export type { Crash, Recovery } from './fabric-thread.ts';
export type { MemoryDevice } from './memory-device.ts';
export {
  type Cable,
  type CableImpairments,
  type CableStatistics,
  type CaptureRing,
  type CaptureStatistics,
  type DeviceKind,
  type DirectionStatistics,
  type Drops,
  type Impairments,
  type InterfaceAddress,
  type InterfaceChange,
  type InterfaceState,
  LINK_TYPES,
  type LinkType,
  type PacketAddress,
  type PortStatistics,
  type SchedulePlan,
  type ScheduleState,
  type TapAddress,
  type Traffic,
  type UdpAddress,
} from './model.ts';

interface FabricEvents {
  /** A capture has ended, as its file could not be written; the cable does not mind. */
  'capture-failed': [{ port: FabricPort; file: string; failure: Failure }];
  /** A thread has died; a new one is built like it. */
  crashed: [Crash];
  /** A thread was rebuilt. Frames of that time are lost, devices have forgotten what they had learned, counters begin at 0. */
  recovered: [Recovery];
  /** A thread has died again and again and was given up: what its groups have moves no frame, and can only be closed. */
  lost: [Crash];
}

export interface FabricOptions {
  /** The most threads; one more is started for one more group. Without it one less than there are cores, four at the most. */
  threads?: number | undefined;
  /** Whether plain frames may be moved by native code, where that can be loaded. */
  frameLoop?: 'automatic' | 'off' | undefined;
}

/** Moves Ethernet frames between emulators, devices in memory and cables. */
export class Fabric extends EventEmitter<FabricEvents> {
  readonly #most: number;
  readonly #frameLoop: 'automatic' | 'off';
  #threads: FabricThread[];
  readonly #placed = new Map<string, FabricThread>();
  /** Of threads that were given up. */
  readonly #past = noTotals();

  constructor({ threads, frameLoop = 'automatic' }: FabricOptions = {}) {
    super();
    this.#most = threads ?? Math.max(1, Math.min(4, availableParallelism() - 1));
    this.#frameLoop = frameLoop;
    this.#threads = [this.#newThread()];
  }

  /** Resolves when frames move. */
  async start(): Promise<void> {
    await this.#threads[0]!.start();
  }

  /** For moments without work: the threads give back memory that they do not need any more. Frames wait some 10 ms meanwhile. */
  async trimMemory(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.request('trimMemory', {})));
  }

  /** Closes all sockets, completes the captures and ends the threads. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
    this.#threads = this.#threads.length > 0 ? this.#threads.slice(0, 1) : [this.#newThread()];
    this.#placed.clear();
  }

  /**
   * A device in memory without ports; {@link createPort} adds them. `told` is given what it says by itself. What is in one group, such as
   * a lab, is on one thread.
   */
  async createDevice<Kind extends DeviceKind>(
    kind: Kind,
    settings: Settings<Kind>,
    told: (message: Output<Kind>) => void = () => {},
    group = '',
  ): Promise<MemoryDevice<Kind>> {
    const device = new MemoryDevice(this.#threadOf(group), group, kind);
    await device.create(settings, told);
    return device;
  }

  /**
   * A port without a cable, of a device or, for a start, of none. `interfaceChanged` is told of interfaces of the port that go down
   * or away, and that are back. A port of a device in memory is in that one's group.
   * @throws Failure `conflict` when the device's UDP port is taken by another program, and for an interface that cannot be had
   */
  async createPort(
    device: Device | null,
    interfaceChanged: (change: InterfaceChange) => void = () => {},
    group = '',
  ): Promise<FabricPort> {
    const owner = device?.kind === 'memory' ? device.device : { thread: this.#threadOf(group), group };
    const { thread } = owner;
    const id = thread.nextId();
    const wire = wireDevice(device, thread);
    thread.groups.enter(id, owner.group);
    thread.listeners.set(id, interfaceChanged as (message: unknown) => void);
    try {
      await thread.request('createPort', { port: id, device: wire });
    } catch (error) {
      thread.listeners.delete(id);
      thread.groups.leave(id);
      throw error;
    }
    return new FabricPort(thread, id, (event) => this.emit('capture-failed', event));
  }

  /** Why TypeScript moves all frames; undefined when the native frame loop moves plain ones. Known after {@link start}. */
  get withoutLoop(): string | undefined {
    return this.#threads[0]?.withoutLoop;
  }

  /** Captures that run. */
  get captures(): number {
    return this.#threads.reduce((sum, { captures }) => sum + captures.size, 0);
  }

  /** What has passed since the start, and what did not arrive. */
  async totals(): Promise<FabricTotals> {
    return sumOf([this.#past, ...(await Promise.all(this.#threads.map((thread) => thread.totals())))]);
  }

  /** The thread that has the group; a new group gets the one with the least on it, or a new one as long as all have something. */
  #threadOf(group: string): FabricThread {
    const placed = this.#placed.get(group);
    if (placed?.groups.has(group) && this.#threads.includes(placed)) return placed;
    let [thread] = this.#threads.toSorted((left, right) => left.groups.members - right.groups.members);
    if (thread === undefined || (thread.groups.members > 0 && this.#threads.length < this.#most)) {
      thread = this.#newThread();
      this.#threads.push(thread);
      thread.start().catch(() => this.#forget(thread!)); // the requests that wait for it fail with the reason
    }
    this.#placed.set(group, thread);
    return thread;
  }

  #newThread(): FabricThread {
    const thread: FabricThread = new FabricThread(this.#frameLoop, {
      crashed: (crash) => this.emit('crashed', crash),
      recovered: (recovery) => this.emit('recovered', recovery),
      lost: (crash) => {
        this.#forget(thread);
        this.emit('lost', crash);
      },
    });
    return thread;
  }

  #forget(thread: FabricThread): void {
    if (!this.#threads.includes(thread)) return;
    // It has no worker any more, so that it answers what it has told last.
    void thread.totals().then((totals) => add(this.#past, totals));
    this.#threads = this.#threads.filter((one) => one !== thread);
  }
}

/** A fabric on its way. */
export interface StartingFabric {
  fabric: Fabric;
  /** Resolves when frames move; fails when the fabric's thread does not start. */
  moving: Promise<void>;
}

/** Lets the fabric's first thread start on a core of its own, some 40 ms, while the caller goes on with something else. */
export function startFabric(options: FabricOptions = {}): StartingFabric {
  const fabric = new Fabric(options);
  const moving = fabric.start();
  moving.catch(() => {}); // for whoever waits for it, perhaps only later
  return { fabric, moving };
}
