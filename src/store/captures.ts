// Options of a capture beyond the release's: members shared by the routes of links and of computes.
import { parse } from 'node:path';

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
