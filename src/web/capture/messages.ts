// What the page and the worker of a capture tell each other.
import type { Layer } from './decode/part.ts';

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
  server: ServerFigures | undefined;
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
}

/** A frame as a whole. */
export interface FrameDetails {
  number: number;
  time: number;
  length: number;
  bytes: Uint8Array;
  layers: readonly Layer[];
}

export type ToWorker =
  /** `path` is that of the socket, below `/v2`. */
  | { kind: 'open'; path: string; query: Readonly<Record<string, string>> }
  | { kind: 'filter'; text: string }
  /** Rows by their place, those that are gone counted. */
  | { kind: 'rows'; from: number; count: number }
  | { kind: 'frame'; number: number };

export type FromWorker =
  | { kind: 'state'; state: CaptureState }
  | { kind: 'filter'; message: string }
  | { kind: 'rows'; from: number; generation: number; rows: Row[] }
  | { kind: 'frame'; frame: FrameDetails | undefined };
