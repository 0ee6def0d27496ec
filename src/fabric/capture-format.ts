// The record encoding of each capture format.

import type { CaptureFormat } from '../api/captures.ts';
import type { CaptureEncoding } from './capture-encoding.ts';
import { microsecondPcap, nanosecondPcap } from './pcap.ts';
import { pcapng } from './pcapng.ts';

export const ENCODINGS: Record<CaptureFormat, CaptureEncoding> = {
  pcap: microsecondPcap,
  nsecpcap: nanosecondPcap,
  pcapng,
};

/** Total size of the whole records within the first `limit` bytes. */
export function wholeRecords(encoding: CaptureEncoding, records: Uint8Array, limit: number): number {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  let end = 0;
  for (;;) {
    const next = encoding.nextRecord(view, end);
    if (next === undefined || next > limit) return end;
    end = next;
  }
}
