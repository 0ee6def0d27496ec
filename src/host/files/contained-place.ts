// Finds where a path leads below one directory. All access to files with untrusted names is decided here.
//
// Names sent by clients are never compared with the root as text. A path is first opened without side effects (O_PATH),
// and the open descriptor is checked: /proc/self/fd gives its real location. From then on only the descriptor is used,
// so swapping a directory or file for a link meanwhile changes nothing. `/proc/self/fd/<directory>/<name>` replaces
// openat(2) and its relatives.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { conflict, type Failure, forbidden, notFound, systemCode } from '../../failures.ts';
import { fileFailure, throwFileFailure } from './atomic-file.ts';
import { relativeBelow } from './relative-path.ts';

/** open(2): only a location in the file system, no access. Not among Node's constants; the same on x64 and arm64. */
export const O_PATH = 0o10000000;
const { O_DIRECTORY } = constants;

const LONGEST_PATH_BYTES = 4095;
/** Links that the kernel follows in one path (path_resolution(7)). */
const MOST_LINKS = 40;

/** The directory that no path may leave, held open. */
export interface Root {
  handle: FileHandle;
  /** Its real location, as returned by `placeOf`. */
  place: string;
}

/** The parts of a relative path, with `.` and `..` resolved. The result never climbs above the root. */
export function segmentsOf(path: string): string[] {
  if (path.includes('\0')) throw forbidden('the path holds a NUL character; leave it out');
  if (path.includes('\\')) throw forbidden(`${path}: use '/' between the parts of a path, never '\\'`);
  if (path.startsWith('/')) throw forbidden(`${path}: give a path relative to the directory, without a leading '/'`);
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES)
    throw forbidden(`the path is longer than ${LONGEST_PATH_BYTES} bytes`);
  const segments: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') {
      if (segments.pop() === undefined) throw outside(path);
    } else if (part !== '' && part !== '.') segments.push(part);
  }
  if (segments.length === 0) throw forbidden(`'${path}': name a file below the directory, not the directory itself`);
  return segments;
}

export async function openRoot(root: string, held: AsyncDisposableStack): Promise<Root> {
  const handle = held.use(await openPlace(root, O_DIRECTORY, root));
  return { handle, place: await placeOf(handle, root) };
}

/** The path of a descriptor, or of a name in an open directory, for calls that take a path. */
export function at(handle: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${handle.fd}` : `/proc/self/fd/${handle.fd}/${name}`;
}

/**
 * Opens the path's segments. Nothing exists below a file. The failure does not disclose whether the target of a link to
 * the outside exists.
 */
export async function openFound(top: Root, segments: readonly string[], path: string, flags = 0): Promise<FileHandle> {
  try {
    return await open(at(top.handle, segments.join('/')), O_PATH | flags);
  } catch (thrown) {
    if (await leadsOutside(top, segments)) throw outside(path);
    if (systemCode(thrown) === 'ENOTDIR' && flags === 0)
      throw notFound(`${path}: there is no such file`, { cause: thrown });
    throw fileFailure(thrown, path);
  }
}

/** Whether a path that cannot be opened leaves the root through a link, to an existing target or not. */
async function leadsOutside(top: Root, segments: readonly string[]): Promise<boolean> {
  let way: string[] = [];
  const rest = [...segments];
  for (let links = 0; links < MOST_LINKS; ) {
    const name = rest.shift();
    if (name === undefined) return false;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (way.pop() === undefined) return true;
      continue;
    }
    way.push(name);
    const entry = at(top.handle, way.join('/'));
    const target = await readlink(entry).catch(() => undefined);
    if (target === undefined) {
      // Not a link but a folder, a file, or missing: no link can follow below it.
      if ((await lstat(entry).catch(() => undefined)) === undefined) return false;
      continue;
    }
    links += 1;
    way.pop();
    if (posix.isAbsolute(target)) {
      const inside = relativeBelow(top.place, posix.normalize(target));
      if (inside === undefined) return true;
      way = [];
      rest.unshift(...inside.split('/'));
    } else rest.unshift(...target.split('/'));
  }
  return false;
}

/** Opens a path without side effects: a FIFO does not block, a device is not touched. */
export async function openPlace(path: string, flags: number, shownAs: string): Promise<FileHandle> {
  return await open(path, O_PATH | flags).catch(throwFileFailure(shownAs));
}

/**
 * The real location of an open file, one character a byte, so that different names that are not UTF-8 stay different.
 */
async function placeOf(handle: FileHandle, shownAs: string): Promise<string> {
  return await readlink(at(handle), { encoding: 'latin1' }).catch(throwFileFailure(shownAs));
}

/** Refuses files that are not below the root (the root itself passes). Returns the path below the root. */
export async function placeBelow(top: Root, found: FileHandle, path: string): Promise<string> {
  const place = await placeOf(found, path);
  if (place === top.place) return '';
  const way = relativeBelow(top.place, place);
  if (way === undefined) throw outside(path);
  return Buffer.from(way, 'latin1').toString();
}

export function mustBeRegular(stat: Stats, path: string): void {
  if (stat.isDirectory()) throw isDirectory(path);
  if (!stat.isFile()) throw forbidden(`${path}: it is a device, pipe or socket; name a regular file`);
}

export function outside(path: string): Failure {
  return forbidden(`${path}: it leads outside of the directory`);
}

export function isDirectory(path: string): Failure {
  return conflict(`${path}: it is a directory, not a file; name a file in it`);
}
