// What a format of captures has to say.

import type { CaptureSettings, CaptureStatistics } from './model.ts';

/** Time of day since 1970, both whole numbers. */
export interface RecordTime {
  seconds: number;
  nanoseconds: number;
}

export interface CaptureEncoding {
  readonly contentType: string;
  /** What every file begins with. */
  header(settings: CaptureSettings): Buffer;
  /** Bytes of the record of a frame of which `captured` bytes are kept. */
  recordBytes(captured: number): number;
  /** Writes a record at `offset` and answers the offset behind it; `outgoing` says that the frame left the node. */
  write(
    target: Buffer,
    offset: number,
    time: RecordTime,
    frame: Buffer,
    captured: number,
    length: number,
    outgoing: boolean,
  ): number;
  /** Where the record at `offset` ends; undefined when too little of it is there to tell. */
  nextRecord(view: DataView, offset: number): number | undefined;
  /** What a complete file ends with. */
  trailer(statistics: CaptureStatistics): Buffer;
}
