// The fabric as the rest of the program sees it: devices in memory, ports and their cables. The frames move in a worker thread.

import { EventEmitter } from 'node:events';
import type { Failure } from '../failures.ts';
import { type Device, FabricPort, wireDevice } from './fabric-port.ts';
import { FabricThread } from './fabric-thread.ts';
import { MemoryDevice } from './memory-device.ts';
import type { DeviceKind, InterfaceChange, Output, Settings } from './model.ts';

export { type CaptureFile, type CaptureFileOptions, isPartOfRing } from './capture-file.ts';
export type { Device, FabricPort } from './fabric-port.ts';
export type { MemoryDevice } from './memory-device.ts';
export {
  CAPTURE_FORMATS,
  type Cable,
  type CableImpairments,
  type CableStatistics,
  type CaptureFormat,
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
  LONGEST_SNAP,
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
  /** The worker has died: no frame moves any more, and every call fails. */
  crashed: [Failure];
}

/** Moves Ethernet frames between emulators, devices in memory and cables. */
export class Fabric extends EventEmitter<FabricEvents> {
  readonly #thread = new FabricThread((failure) => this.emit('crashed', failure));

  /** Resolves when frames move. */
  async start(): Promise<void> {
    await this.#thread.start();
  }

  /** Closes all sockets, completes the captures and ends the worker. */
  async stop(): Promise<void> {
    await this.#thread.stop();
  }

  /** A device in memory without ports; {@link createPort} adds them. `told` is given what it says by itself. */
  async createDevice<Kind extends DeviceKind>(
    kind: Kind,
    settings: Settings<Kind>,
    told: (message: Output<Kind>) => void = () => {},
  ): Promise<MemoryDevice<Kind>> {
    const device = new MemoryDevice(this.#thread, kind);
    await device.create(settings, told);
    return device;
  }

  /**
   * A port without a cable, of a device or, for a start, of none. `interfaceChanged` is told of interfaces of the port that go down
   * or away, and that are back.
   * @throws Failure `conflict` when the device's UDP port is taken by another program, and for an interface that cannot be had
   */
  async createPort(
    device: Device | null,
    interfaceChanged: (change: InterfaceChange) => void = () => {},
  ): Promise<FabricPort> {
    const id = this.#thread.nextId();
    this.#thread.listeners.set(id, interfaceChanged as (message: unknown) => void);
    try {
      await this.#thread.request('createPort', { port: id, device: wireDevice(device) });
    } catch (error) {
      this.#thread.listeners.delete(id);
      throw error;
    }
    return new FabricPort(this.#thread, id, (event) => this.emit('capture-failed', event));
  }
}

/** A fabric on its way. */
export interface StartingFabric {
  fabric: Fabric;
  /** Resolves when frames move; fails when the fabric's thread does not start. */
  moving: Promise<void>;
}

/** Lets the fabric's thread start on a core of its own, some 40 ms, while the caller goes on with something else. */
export function startFabric(): StartingFabric {
  const fabric = new Fabric();
  const moving = fabric.start();
  moving.catch(() => {}); // for whoever waits for it, perhaps only later
  return { fabric, moving };
}
