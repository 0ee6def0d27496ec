// The fabric's interface to the rest of the program: devices in memory, ports and cables. Frames are moved by worker threads.

import { EventEmitter } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Failure } from '../failures.ts';
import { type Device, FabricPort, wireDevice } from './fabric-port.ts';
import { type Crash, FabricThread, type Recovery, type ThreadOptions } from './fabric-thread.ts';
import { MemoryDevice } from './memory-device.ts';
import type { DeviceKind, FabricTotals, InterfaceChange, Output, Settings, TunnelNotice } from './model.ts';
import { add, noTotals, sumOf } from './totals.ts';

export { LINK_TYPES, type LinkType } from '../api/captures.ts';
export type { CaptureFile, CaptureFileOptions } from './capture-file.ts';
export type { Device, FabricPort } from './fabric-port.ts';
export type { Crash, Recovery } from './fabric-thread.ts';
export type { MemoryDevice } from './memory-device.ts';
export type {
  Cable,
  CableImpairments,
  CableStatistics,
  CaptureRing,
  CaptureStatistics,
  DeviceKind,
  DirectionStatistics,
  Drops,
  FramePath,
  Impairments,
  InterfaceAddress,
  InterfaceChange,
  InterfaceState,
  PacketAddress,
  PortStatistics,
  SchedulePlan,
  ScheduleState,
  TapAddress,
  Traffic,
  TunnelNotice,
  TunnelStatistics,
  UdpAddress,
} from './model.ts';

interface FabricEvents {
  /** A capture ended because its file could not be written. The cable is unaffected. */
  'capture-failed': [{ port: FabricPort; file: string; failure: Failure }];
  /** A worker crashed; an identical new one is starting. */
  crashed: [Crash];
  /** A worker was rebuilt. Frames of that time are lost, learned addresses are forgotten and counters start at 0. */
  recovered: [Recovery];
  /** A worker kept crashing and was given up: its groups move no frames and can only be closed. */
  lost: [Crash];
}

export interface FabricOptions {
  /** Maximum number of threads; each new group may get a new one. Default: one less than the number of cores, at most four. */
  threads?: number | undefined;
  /** Whether native code may move plain frames, if it can be loaded. */
  frameLoop?: 'automatic' | 'off' | undefined;
  /** Whether the kernel may forward plain frames between nodes' interfaces, if it permits that. Default: `off`. */
  kernelLinks?: 'automatic' | 'off' | undefined;
}

/** Moves Ethernet frames between emulators, devices in memory and cables. */
export class Fabric extends EventEmitter<FabricEvents> {
  readonly #most: number;
  readonly #options: ThreadOptions;
  #threads: FabricThread[];
  readonly #placed = new Map<string, FabricThread>();
  /** Totals of threads that were given up. */
  readonly #past = noTotals();

  constructor({ threads, frameLoop = 'automatic', kernelLinks = 'off' }: FabricOptions = {}) {
    super();
    this.#most = threads ?? Math.max(1, Math.min(4, availableParallelism() - 1));
    this.#options = { frameLoop, kernelLinks };
    this.#threads = [this.#newThread()];
  }

  /** Starts the fabric; resolves when frames move. */
  async start(): Promise<void> {
    await this.#threads[0]!.start();
  }

  /** Makes the threads return unused memory; call it when idle, since frames wait some 10 ms. */
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
   * Creates a device in memory; ports are added with {@link createPort}. `listener` receives its messages. A group, such as a lab, stays on one
   * thread.
   */
  async createDevice<Kind extends DeviceKind>(
    kind: Kind,
    settings: Settings<Kind>,
    listener: (message: Output<Kind>) => void = () => {},
    group = '',
  ): Promise<MemoryDevice<Kind>> {
    const device = new MemoryDevice(this.#threadOf(group), group, kind);
    await device.create(settings, listener);
    return device;
  }

  /**
   * Creates a port without a cable, with or without a device. `interfaceChanged` is called when an interface of the port goes down,
   * disappears or returns, `unfit` when its first frames do not fit into the path of its cable. A port of a device in memory is in the device's group.
   * @throws Failure `conflict` if another program has the device's UDP port, or the interface is not available
   */
  async createPort(
    device: Device | null,
    interfaceChanged: (change: InterfaceChange) => void = () => {},
    group = '',
    unfit: (notice: TunnelNotice) => void = () => {},
  ): Promise<FabricPort> {
    const owner = device?.kind === 'memory' ? device.device : { thread: this.#threadOf(group), group };
    const { thread } = owner;
    const id = thread.nextId();
    const wire = wireDevice(device, thread);
    thread.groups.enter(id, owner.group);
    const listen = (message: InterfaceChange | TunnelNotice): void =>
      'unfit' in message ? unfit(message) : interfaceChanged(message);
    thread.listeners.set(id, listen as (message: unknown) => void);
    try {
      await thread.request('createPort', { port: id, device: wire, group: owner.group });
    } catch (error) {
      thread.listeners.delete(id);
      thread.groups.leave(id);
      throw error;
    }
    return new FabricPort(thread, id, (event) => this.emit('capture-failed', event));
  }

  /** Why the native frame loop is not used; undefined if it moves plain frames. Known after {@link start}. */
  get withoutLoop(): string | undefined {
    return this.#threads[0]?.withoutLoop;
  }

  /** Number of running captures. */
  get captures(): number {
    return this.#threads.reduce((sum, { captures }) => sum + captures.size, 0);
  }

  /** Frames moved and dropped since the start. */
  async totals(): Promise<FabricTotals> {
    return sumOf([this.#past, ...(await Promise.all(this.#threads.map((thread) => thread.totals())))]);
  }

  /** The group's thread. A new group gets a new thread if all have groups and the maximum allows it, otherwise the least loaded one. */
  #threadOf(group: string): FabricThread {
    const placed = this.#placed.get(group);
    if (placed?.groups.has(group) && this.#threads.includes(placed)) return placed;
    let [thread] = this.#threads.toSorted((left, right) => left.groups.members - right.groups.members);
    if (thread === undefined || (thread.groups.members > 0 && this.#threads.length < this.#most)) {
      thread = this.#newThread();
      this.#threads.push(thread);
      thread.start().catch(() => this.#forget(thread!)); // pending requests fail with the reason
    }
    this.#placed.set(group, thread);
    return thread;
  }

  #newThread(): FabricThread {
    const thread: FabricThread = new FabricThread(this.#options, {
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
    // The thread has no worker any more, so this returns its last report.
    void thread.totals().then((totals) => add(this.#past, totals));
    this.#threads = this.#threads.filter((one) => one !== thread);
  }
}

/** A fabric that is starting. */
export interface StartingFabric {
  fabric: Fabric;
  /** Resolves when frames move; fails if the fabric's thread does not start. */
  moving: Promise<void>;
}

/** Starts the fabric's first thread (some 40 ms on another core) while the caller continues. */
export function startFabric(options: FabricOptions = {}): StartingFabric {
  const fabric = new Fabric(options);
  const moving = fabric.start();
  moving.catch(() => {}); // a caller may wait for it only later
  return { fabric, moving };
}
