// Messages between the page and the worker of a capture.
import type { Layer } from './decode/packet-part.ts';
import type { StreamObject } from './streams/follower.ts';

/** Where to read a capture. */
export interface SourceAddress {
  /** Name in the list. */
  name: string;
  /** Path of its socket below `/v2`, and its query. */
  path: string;
  query: Readonly<Record<string, string>>;
  /** Changes with each capture that starts there. */
  start: number;
}

/** Figures that the server sends besides the bytes. */
export interface ServerFigures {
  frames: number;
  bytes: number;
  drops: number;
  filtered: number;
  skipped_bytes: number;
}

export interface CaptureState {
  connection: 'connecting' | 'open' | 'lost' | 'ended';
  /** Why it has ended or cannot be read. */
  reason: string;
  /** Frames received since it was opened. */
  received: number;
  /** Frames still kept. */
  kept: number;
  /** Kept frames that match the filter. */
  shown: number;
  /** Rows that were listed once and have been dropped. */
  gone: number;
  /** Changes when row indexes become invalid, as with another filter or connection. */
  generation: number;
  /** Sum over all captures of the list. */
  server: ServerFigures | undefined;
  /** The captures, indexed by `Row.source`. */
  sources: readonly { name: string; connection: CaptureState['connection'] }[];
}

/** A row of the list. */
export interface Row {
  /** Identifies its frame. */
  id: number;
  number: number;
  /** Nanoseconds since the first frame. */
  time: number;
  source: string;
  target: string;
  protocol: string;
  info: string;
  length: number;
  /** Name of its capture. */
  link: string;
}

/** All details of a frame. */
export interface FrameDetails {
  id: number;
  number: number;
  time: number;
  length: number;
  bytes: Uint8Array;
  layers: readonly Layer[];
  /** Whether it belongs to a TCP stream. */
  hasStream: boolean;
}

export type ToWorker =
  /** All captures of the list; those already open continue. */
  | { kind: 'open'; sources: readonly SourceAddress[] }
  | { kind: 'filter'; text: string }
  /** Rows by index; dropped rows count. */
  | { kind: 'rows'; from: number; count: number }
  | { kind: 'frame'; id: number }
  /** Follows the stream of a frame, or none. */
  | { kind: 'stream'; id: number | undefined };

export type FromWorker =
  | { kind: 'state'; state: CaptureState }
  | { kind: 'filter'; message: string }
  | { kind: 'rows'; from: number; generation: number; rows: Row[] }
  | { kind: 'frame'; frame: FrameDetails | undefined }
  | { kind: 'stream'; stream: StreamObject | undefined };
