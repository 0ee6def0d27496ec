// What a capture can be asked for beyond the release: members that routes of links and of computes share.
import { parse } from 'node:path';
import * as v from 'valibot';
import { wholeFrom } from './impairments.ts';
import { Text } from './vocabulary.ts';

/** Forms of a capture file, by editcap's names: times in microseconds, in nanoseconds, or with names, directions and counters. */
export const CAPTURE_FORMATS = ['pcap', 'nsecpcap', 'pcapng'] as const;
export type CaptureFormat = (typeof CAPTURE_FORMATS)[number];

/** Bytes of a frame that a capture keeps at most. */
export const LONGEST_SNAP_BYTES = 65_535;

/** Extensions of `start_capture`; a capture without them is that of the release. */
export const CAPTURE_EXTENSIONS = {
  format: v.optional(v.picklist(CAPTURE_FORMATS)),
  snap_length: v.optional(wholeFrom(1, LONGEST_SNAP_BYTES, 'bytes')),
  /** Of each file of a ring. */
  ring_size: v.optional(wholeFrom(128 << 10, 2 ** 40, 'bytes')),
  ring_files: v.optional(wholeFrom(2, 1000, 'files')),
  filter: v.optional(Text),
};
export type CaptureExtensions = v.InferOutput<v.ObjectSchema<typeof CAPTURE_EXTENSIONS, undefined>>;

/** Files of a ring whose size alone was given. */
export const RING_FILES = 2;

/** Where captures lie, below a project's directory. */
export const CAPTURES_DIRECTORY = 'project-files/captures';

/** Bytes before its end at which reading a capture may begin, at most. */
export const MOST_LAST_BYTES = 2 ** 40;

/** Whether a ring that writes `file` gives files the name `other`; both are names in one directory. */
export function isPartOfRing(file: string, other: string): boolean {
  const { name, ext } = parse(file);
  if (!other.startsWith(`${name}_`) || !other.endsWith(ext)) return false;
  return /^\d{5,}$/.test(other.slice(name.length + 1, other.length - ext.length));
}
