// The interface of a capture file format.

import type { CaptureSettings, CaptureStatistics } from './model.ts';

/** Time since 1970; both members are integers. */
export interface RecordTime {
  seconds: number;
  nanoseconds: number;
}

export interface CaptureEncoding {
  readonly contentType: string;
  /** The file header. */
  header(settings: CaptureSettings): Buffer;
  /** Size of a record that holds `captured` bytes of a frame. */
  recordBytes(captured: number): number;
  /** Writes a record at `offset` and returns the offset after it. `outgoing`: the frame left the node. */
  write(
    target: Buffer,
    offset: number,
    time: RecordTime,
    frame: Buffer,
    captured: number,
    length: number,
    outgoing: boolean,
  ): number;
  /** The end offset of the record at `offset`, or undefined if too few bytes are available. */
  nextRecord(view: DataView, offset: number): number | undefined;
  /** The last bytes of a complete file. */
  trailer(statistics: CaptureStatistics): Buffer;
}
