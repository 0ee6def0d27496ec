// Options of a capture beyond the release's: members shared by the routes of links and of computes.
import * as v from 'valibot';
import { wholeFrom } from './impairments.ts';
import { Text } from './vocabulary.ts';

/**
 * Formats of a capture file, by editcap's names: with times in microseconds, in nanoseconds, or with names, directions
 * and counters.
 */
export const CAPTURE_FORMATS = ['pcap', 'nsecpcap', 'pcapng'] as const;

export type CaptureFormat = (typeof CAPTURE_FORMATS)[number];

/** The most bytes kept of a frame. */
export const LONGEST_SNAP_BYTES = 65_535;

/** Extensions of `start_capture`; without them a capture is like the release's. */
export const CAPTURE_EXTENSIONS = {
  format: v.optional(v.picklist(CAPTURE_FORMATS)),
  snap_length: v.optional(wholeFrom(1, LONGEST_SNAP_BYTES, 'bytes')),
  /** Size of each file of a ring. */
  ring_size: v.optional(wholeFrom(128 << 10, 2 ** 40, 'bytes')),
  ring_files: v.optional(wholeFrom(2, 1000, 'files')),
  filter: v.optional(Text),
};

export type CaptureExtensions = v.InferOutput<v.ObjectSchema<typeof CAPTURE_EXTENSIONS, undefined>>;

/** Link types of capture files: the API's names and their numbers (https://www.tcpdump.org/linktypes.html). */
export const LINK_TYPES = {
  DLT_EN10MB: 1,
  DLT_FRELAY: 107,
  DLT_C_HDLC: 104,
  DLT_PPP_SERIAL: 50,
  DLT_ATM_RFC1483: 100,
} as const;

export type LinkType = keyof typeof LINK_TYPES;
