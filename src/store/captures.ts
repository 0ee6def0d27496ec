// Options of a capture beyond the release's: members shared by the routes of links and of computes.
import { parse } from 'node:path';
import * as v from 'valibot';
import { wholeFrom } from '../api/impairments.ts';
import { Text } from '../api/vocabulary.ts';

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

/** Number of files of a ring if only the size is given. */
export const RING_FILES = 2;

/** The folder of captures below a project's directory. */
export const CAPTURES_DIRECTORY = 'project-files/captures';

/** The largest number of bytes before its end from which a capture can be read. */
export const MOST_LAST_BYTES = 2 ** 40;

/** Whether `other` is a file of the ring that writes `file`; both are names in one directory. */
export function isPartOfRing(file: string, other: string): boolean {
  const { name, ext } = parse(file);
  if (!other.startsWith(`${name}_`) || !other.endsWith(ext)) return false;
  return /^\d{5,}$/.test(other.slice(name.length + 1, other.length - ext.length));
}
