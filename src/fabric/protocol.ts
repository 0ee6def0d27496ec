// What the main thread and the fabric's worker thread say to each other.

import type { FailureCode } from '../failures.ts';
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

/** A device as the worker knows it: devices in memory by their number. */
export type WireDevice =
  | ({ kind: 'udp' } & UdpAddress)
  | InterfaceAddress
  | { kind: 'memory'; device: number; number: number };

/** Verbs of the main thread: what they take and what they answer. */
export interface Verbs {
  createDevice: { takes: { device: number } & DeviceSettings; gives: undefined };
  configureDevice: { takes: { device: number } & DeviceSettings; gives: undefined };
  askDevice: { takes: { device: number; question: string }; gives: unknown };
  tellDevice: { takes: { device: number; message: unknown }; gives: undefined };
  closeDevice: { takes: { device: number }; gives: undefined };
  createPort: { takes: { port: number; device: WireDevice | null }; gives: undefined };
  closePort: { takes: { port: number }; gives: undefined };
  setDevice: { takes: { port: number; device: WireDevice | null }; gives: undefined };
  connect: { takes: { port: number; cable: Cable; impairments: Impairments }; gives: undefined };
  impair: { takes: { port: number; impairments: Impairments }; gives: undefined };
  /** Ends the schedule, if one runs. */
  impairDirections: { takes: { port: number; impairments: CableImpairments }; gives: undefined };
  /** In place of the one that runs. */
  schedule: { takes: { port: number; plan: SchedulePlan }; gives: ScheduleState };
  cancelSchedule: { takes: { port: number }; gives: undefined };
  scheduleState: { takes: { port: number }; gives: ScheduleState | undefined };
  disconnect: { takes: { port: number }; gives: undefined };
  startCapture: { takes: { port: number; capture: number; settings: CaptureSettings }; gives: undefined };
  /** Answers the last figures of the capture, if there was one. */
  stopCapture: { takes: { port: number }; gives: CaptureStatistics | undefined };
  statistics: { takes: { port: number }; gives: PortStatistics };
  cableStatistics: { takes: { port: number }; gives: CableStatistics };
  /** Starts counting what passes the cable from zero. */
  resetStatistics: { takes: { port: number }; gives: undefined };
  /** Gives memory back: this thread's garbage, and what the allocator of the whole process holds (host/processes/memory.ts). */
  trimMemory: { takes: Record<never, never>; gives: undefined };
  /** Of this worker's life; what is closed counts on. */
  totals: { takes: Record<never, never>; gives: FabricTotals };
  stop: { takes: Record<never, never>; gives: undefined };
}

export type Verb = keyof Verbs;

export type Request = { [V in Verb]: { id: number; verb: V; body: Verbs[V]['takes'] } }[Verb];

export type Report =
  /** The worker listens. `withoutLoop`: why TypeScript moves all frames. */
  | { kind: 'ready'; withoutLoop?: string | undefined }
  | { kind: 'answer'; id: number; result: unknown }
  | { kind: 'failure'; id: number; code: FailureCode; message: string }
  /** Whole records for the files of captures: each chunk is the main thread's until it releases it. */
  | { kind: 'captured'; chunks: { capture: number; memory: SharedArrayBuffer; length: number }[] }
  /** A device in memory says something, or a port that one of its interfaces has changed (an InterfaceChange). */
  | { kind: 'told'; device: number; message: unknown };

/** Indexes of the Int32Array that both threads share. */
export const SIGNAL = {
  /** 1: the main thread has posted messages (and written to the eventfd, if it was 0 before). */
  posted: 0,
  /** 1: leave at once, the process is ending. */
  leave: 1,
  /** The eventfd that interrupts the worker's wait; 0 before the first one. */
  wakeUp: 2,
} as const;

export interface WorkerData {
  signals: Int32Array<SharedArrayBuffer>;
  /** Of the worker's OpenDescriptors, which the main thread closes when it has ended. */
  descriptors: Int32Array<SharedArrayBuffer>;
  frameLoop: 'automatic' | 'off';
}
