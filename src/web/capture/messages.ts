// What the page and the worker of a capture tell each other.
import type { Layer } from './decode/part.ts';
import type { StreamObject } from './streams/follower.ts';

/** Where a capture comes from. */
export interface SourceAddress {
  /** What the list calls it. */
  name: string;
  /** Of its socket, below `/v2`, and the query of the socket's opening. */
  path: string;
  query: Readonly<Record<string, string>>;
}

/** The figures that the server tells beside the bytes. */
export interface ServerFigures {
  frames: number;
  bytes: number;
  drops: number;
  filtered: number;
  skipped_bytes: number;
}

export interface CaptureState {
  connection: 'connecting' | 'open' | 'lost' | 'ended';
  /** Why it has ended, or cannot be read. */
  reason: string;
  /** Frames that came since it was opened. */
  received: number;
  /** Frames that are still kept. */
  kept: number;
  /** Frames that the filter lets through, of those that are kept. */
  shown: number;
  /** Rows that were shown once and are not kept any more. */
  gone: number;
  /** Changes whenever rows are others: with another filter, or another connection. */
  generation: number;
  /** Of all captures of the list together. */
  server: ServerFigures | undefined;
  /** The captures of the list, by the numbers of `Row.source`. */
  sources: readonly { name: string; connection: CaptureState['connection'] }[];
}

/** A line of the list. */
export interface Row {
  number: number;
  /** Nanoseconds since the first frame. */
  time: number;
  source: string;
  target: string;
  protocol: string;
  info: string;
  length: number;
  /** The name of its capture. */
  link: string;
}

/** A frame as a whole. */
export interface FrameDetails {
  number: number;
  time: number;
  length: number;
  bytes: Uint8Array;
  layers: readonly Layer[];
  /** Whether it is of a stream of TCP. */
  hasStream: boolean;
}

export type ToWorker =
  /** All captures of the list; those that are known already go on. */
  | { kind: 'open'; sources: readonly SourceAddress[] }
  | { kind: 'filter'; text: string }
  /** Rows by their place, those that are gone counted. */
  | { kind: 'rows'; from: number; count: number }
  | { kind: 'frame'; number: number }
  /** Follows the stream of a frame, or none. */
  | { kind: 'stream'; number: number | undefined };

export type FromWorker =
  | { kind: 'state'; state: CaptureState }
  | { kind: 'filter'; message: string }
  | { kind: 'rows'; from: number; generation: number; rows: Row[] }
  | { kind: 'frame'; frame: FrameDetails | undefined }
  | { kind: 'stream'; stream: StreamObject | undefined };
