// Messages between the main thread and the fabric's worker.

import type { FailureCode } from '../failures.ts';
import type { Relay } from '../host/network/interface-removals.ts';
import type {
  Cable,
  CableImpairments,
  CableStatistics,
  CaptureSettings,
  CaptureStatistics,
  DeviceSettings,
  FabricTotals,
  Impairments,
  InterfaceAddress,
  PortStatistics,
  SchedulePlan,
  ScheduleState,
  UdpAddress,
} from './model.ts';

/** A device in the form that the worker uses: devices in memory by number. */
export type WireDevice =
  | ({ kind: 'udp' } & UdpAddress)
  | InterfaceAddress
  | { kind: 'memory'; device: number; number: number };

/** The main thread's requests: arguments and answers. */
export interface Verbs {
  createDevice: { takes: { device: number } & DeviceSettings; gives: undefined };
  configureDevice: { takes: { device: number } & DeviceSettings; gives: undefined };
  askDevice: { takes: { device: number; question: string }; gives: unknown };
  tellDevice: { takes: { device: number; message: unknown }; gives: undefined };
  closeDevice: { takes: { device: number }; gives: undefined };
  createPort: { takes: { port: number; device: WireDevice | null; group: string }; gives: undefined };
  closePort: { takes: { port: number }; gives: undefined };
  setDevice: { takes: { port: number; device: WireDevice | null }; gives: undefined };
  connect: { takes: { port: number; cable: Cable; impairments: Impairments }; gives: undefined };
  /** Whether frames of a UDP cable are sent to its other interface. */
  useVia: { takes: { port: number; isUsed: boolean }; gives: undefined };
  impair: { takes: { port: number; impairments: Impairments }; gives: undefined };
  /** Ends a running schedule. */
  impairDirections: { takes: { port: number; impairments: CableImpairments }; gives: undefined };
  /** Replaces a running schedule. `elapsed`: ms since it started. */
  schedule: { takes: { port: number; plan: SchedulePlan; elapsed?: number }; gives: ScheduleState };
  cancelSchedule: { takes: { port: number }; gives: undefined };
  scheduleState: { takes: { port: number }; gives: ScheduleState | undefined };
  disconnect: { takes: { port: number }; gives: undefined };
  startCapture: { takes: { port: number; capture: number; settings: CaptureSettings }; gives: undefined };
  /** Returns the final statistics of the capture, if there was one. */
  stopCapture: { takes: { port: number }; gives: CaptureStatistics | undefined };
  statistics: { takes: { port: number }; gives: PortStatistics };
  cableStatistics: { takes: { port: number }; gives: CableStatistics };
  /** Resets the cable's counters to zero. */
  resetStatistics: { takes: { port: number }; gives: undefined };
  /** Frees memory: this thread's garbage, and unused memory of the process's allocator (host/processes/memory.ts). */
  trimMemory: { takes: Record<never, never>; gives: undefined };
  /** Totals of this worker, including closed ports. */
  totals: { takes: Record<never, never>; gives: FabricTotals };
  stop: { takes: Record<never, never>; gives: undefined };
}

export type Verb = keyof Verbs;

export type Request = { [V in Verb]: { id: number; verb: V; body: Verbs[V]['takes'] } }[Verb];

export type Report =
  /** The worker accepts requests. `withoutLoop`: why the native frame loop is not used. */
  | { kind: 'ready'; withoutLoop?: string | undefined }
  | { kind: 'answer'; id: number; result: unknown }
  | { kind: 'failure'; id: number; code: FailureCode; message: string }
  /** Whole records for capture files; the main thread owns each chunk until it releases it. */
  | { kind: 'captured'; chunks: { capture: number; memory: SharedArrayBuffer; length: number }[] }
  /** A TAP that the main thread removes when the worker has ended. */
  | { kind: 'relay'; relay: Relay }
  /** The main thread removes this TAP now: see FramePlane.removeElsewhere. */
  | { kind: 'remove'; relay: Relay }
  /** A message of a device in memory, or a port's InterfaceChange or TunnelNotice. */
  | { kind: 'message'; device: number; message: unknown };

/** Indexes of the Int32Array that both threads share. */
export const SIGNAL = {
  /** 1: the main thread has posted messages (and written to the eventfd, if it was 0 before). */
  posted: 0,
  /** 1: leave at once, the process is exiting. */
  leave: 1,
  /** The eventfd that wakes the worker; 0 before its first wait. */
  wakeUp: 2,
} as const;

export interface WorkerData {
  signals: Int32Array<SharedArrayBuffer>;
  /** The worker's OpenDescriptors, which the main thread closes after it has ended. */
  descriptors: Int32Array<SharedArrayBuffer>;
  frameLoop: 'automatic' | 'off';
  kernelLinks: 'automatic' | 'off';
}
