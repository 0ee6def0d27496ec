// Main-thread handles of the ports in the worker.

import { isIP } from 'node:net';
import { FILTER_VALUES, type FilterValue } from '../api/impairments.ts';
import { conflict, type Failure, invalid } from '../failures.ts';
import { CaptureFile, type CaptureFileOptions } from './capture-file.ts';
import type { FabricThread } from './fabric-thread.ts';
import type { MemoryDevice } from './memory-device.ts';
import type {
  Cable,
  CableImpairments,
  CableStatistics,
  CaptureStatistics,
  DeviceKind,
  Impairments,
  InterfaceAddress,
  PortStatistics,
  SchedulePlan,
  ScheduleState,
  UdpAddress,
} from './model.ts';
import type { WireDevice } from './protocol.ts';

/**
 * The device of a port: a program that uses UDP (the port's socket is bound to loopback if the program is local), an interface of this
 * host, or a device in memory with its port number `number`.
 */
export type Device =
  | ({ kind: 'udp' } & UdpAddress)
  | InterfaceAddress
  | { kind: 'memory'; device: MemoryDevice<DeviceKind>; number: number };

export type CaptureFailed = (event: { port: FabricPort; file: string; failure: Failure }) => void;

function checkAddress({ localPort, remoteHost, remotePort }: UdpAddress): void {
  for (const [name, port] of Object.entries({ localPort, remotePort })) {
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw invalid(`${name} must be a UDP port between 1 and 65535, not ${port}`);
  }
  if (isIP(remoteHost) === 0) throw invalid(`remoteHost must be an IP address, not '${remoteHost}'`);
}

/** Longest interface name in bytes (IFNAMSIZ without the zero byte). */
const LONGEST_NAME_BYTES = 15;

function checkInterface({ interface: name }: InterfaceAddress): void {
  // Excludes what the kernel refuses (dev_valid_name), and `%`, which it treats as a name pattern.
  const plain = /^[^\s/:%\0]+$/.test(name) && name !== '.' && name !== '..';
  if (plain && Buffer.byteLength(name) <= LONGEST_NAME_BYTES) return;
  const rule = `1 to ${LONGEST_NAME_BYTES} bytes, without spaces, "/", ":" and "%"`;
  throw invalid(`interface: ${JSON.stringify(name)} is no name of an interface; use ${rule}`);
}

/** The device in the form that the worker uses. */
export function wireDevice(device: Device | null, thread: FabricThread): WireDevice | null {
  if (device?.kind === 'memory' && device.device.thread !== thread)
    throw invalid('A port and its device in memory must be made in one group');
  if (device?.kind === 'memory') return { kind: 'memory', device: device.device.id, number: device.number };
  if (device?.kind === 'udp') checkAddress(device);
  if (device?.kind === 'tap' || device?.kind === 'packet') checkInterface(device);
  return device;
}

function checkImpairments({ frequencyDrop = 0, packetLoss = 0, delay, corrupt = 0 }: Impairments): void {
  const [latency, jitter] = FILTER_VALUES.delay;
  const checks: [string, number, FilterValue][] = [
    ['frequencyDrop', frequencyDrop, FILTER_VALUES.frequency_drop[0]],
    ['packetLoss', packetLoss, FILTER_VALUES.packet_loss[0]!],
    ['corrupt', corrupt, FILTER_VALUES.corrupt[0]!],
    ['delay.latency', delay?.latency ?? 0, latency],
    ['delay.jitter', delay?.jitter ?? 0, jitter],
  ];
  for (const [name, value, { minimum, maximum }] of checks) {
    // Written like this to reject NaN, too.
    if (!(value >= minimum && value <= maximum))
      throw invalid(`${name} must be between ${minimum} and ${maximum}, not ${value}`);
  }
}

/** A port of a node, created by `Fabric.createPort`. */
export class FabricPort {
  readonly #thread: FabricThread;
  readonly #id: number;
  readonly #captureFailed: CaptureFailed;
  #capture: number | undefined;

  constructor(thread: FabricThread, id: number, captureFailed: CaptureFailed) {
    this.#thread = thread;
    this.#id = id;
    this.#captureFailed = captureFailed;
  }

  /**
   * Plugs in a cable. It holds its UDP port until {@link disconnect}.
   * @throws Failure `conflict` if the UDP port is taken, there is no route to the peer, the port already has a cable, or the interface is
   * not available; `forbidden` if the capability for it is missing
   */
  async connect(cable: Cable, impairments: Impairments = {}): Promise<void> {
    if (cable.kind === 'udp') checkAddress(cable);
    if (cable.kind === 'udp' && cable.via !== undefined) checkInterface({ kind: 'packet', ...cable.via });
    if (cable.kind === 'tap' || cable.kind === 'packet') checkInterface(cable);
    checkImpairments(impairments);
    await this.#thread.request('connect', { port: this.#id, cable, impairments });
  }

  /** Sends frames to the other interface of a UDP cable (`via`), or again by UDP. */
  async useVia(isUsed: boolean): Promise<void> {
    await this.#thread.request('useVia', { port: this.#id, isUsed });
  }

  /** Replaces the impairments of the cable. Frames already held by a delay keep their arrival time. */
  async impair(impairments: Impairments): Promise<void> {
    checkImpairments(impairments);
    await this.#thread.request('impair', { port: this.#id, impairments });
  }

  /** Replaces the per-direction impairments, which apply in addition to those of both directions. Ends a running schedule. */
  async impairDirections(impairments: CableImpairments): Promise<void> {
    await this.#thread.request('impairDirections', { port: this.#id, impairments });
  }

  /** Starts a schedule in place of a running one. It ends with the next change of the directions, or with the cable. */
  async schedule(plan: SchedulePlan): Promise<ScheduleState> {
    return await this.#thread.request('schedule', { port: this.#id, plan });
  }

  /** Ends a running schedule and restores the directions to their earlier state. */
  async cancelSchedule(): Promise<void> {
    await this.#thread.request('cancelSchedule', { port: this.#id });
  }

  /** State of the cable's most recent schedule. */
  async scheduleState(): Promise<ScheduleState | undefined> {
    return await this.#thread.request('scheduleState', { port: this.#id });
  }

  /** Unplugs the cable, if any: frames in flight are lost and the UDP port is freed. */
  async disconnect(): Promise<void> {
    await this.#thread.request('disconnect', { port: this.#id });
  }

  /** Replaces the device; the cable and capture stay. If it fails, the port has no device. */
  async setDevice(device: Device | null): Promise<void> {
    await this.#thread.request('setDevice', { port: this.#id, device: wireDevice(device, this.#thread) });
  }

  /**
   * Records the cable's frames in both directions, after impairments, until {@link stopCapture}. The returned file can be read meanwhile.
   * @throws Failure `conflict` if a capture is running or the file cannot be created, `out-of-space`
   */
  async startCapture(options: CaptureFileOptions): Promise<CaptureFile> {
    if (this.#capture !== undefined) throw conflict('The port is being captured already');
    const capture = this.#thread.nextId();
    this.#capture = capture;
    const { captures } = this.#thread;
    const { file, ring: _, ...settings } = options;
    try {
      const output = await CaptureFile.create(options, (failure) => {
        captures.delete(capture);
        if (this.#capture === capture) {
          this.#capture = undefined;
          this.#thread.request('stopCapture', { port: this.#id }).catch(() => {});
        }
        this.#captureFailed({ port: this, file, failure });
      });
      captures.set(capture, output);
      await this.#thread.request('startCapture', { port: this.#id, capture, settings });
      return output;
    } catch (error) {
      this.#capture = undefined;
      await captures.get(capture)?.close();
      captures.delete(capture);
      throw error;
    }
  }

  /** Ends the capture, if any; resolves when the file is complete. */
  async stopCapture(): Promise<void> {
    if (this.#capture === undefined) return;
    await this.#completeCapture(await this.#thread.request('stopCapture', { port: this.#id }));
  }

  async statistics(): Promise<PortStatistics> {
    return await this.#thread.request('statistics', { port: this.#id });
  }

  /**
   * Statistics of the cable.
   * @throws Failure `conflict` without a cable
   */
  async cableStatistics(): Promise<CableStatistics> {
    return await this.#thread.request('cableStatistics', { port: this.#id });
  }

  /** Resets the cable's counters to zero. */
  async resetStatistics(): Promise<void> {
    await this.#thread.request('resetStatistics', { port: this.#id });
  }

  /** Removes the port with its device socket, cable and capture. */
  async close(): Promise<void> {
    await this.stopCapture();
    await this.#thread.request('closePort', { port: this.#id });
    this.#thread.listeners.delete(this.#id);
  }

  async #completeCapture(statistics: CaptureStatistics | undefined): Promise<void> {
    const capture = this.#capture;
    if (capture === undefined) return;
    this.#capture = undefined;
    const output = this.#thread.captures.get(capture);
    this.#thread.captures.delete(capture);
    await output?.close(statistics);
  }
}
