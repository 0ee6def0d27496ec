// Where a path leads below one directory: what every access to files that are named by strangers is decided on.
//
// No string that the client sent is ever compared with the root. A path is opened first, without any effect on what it
// leads to (O_PATH), and the decision is made on the open descriptor: the kernel says in /proc/self/fd where it really
// is. From then on only the descriptor is used, so that a directory or file swapped for a link in the meantime changes
// nothing. `/proc/self/fd/<directory>/<name>` stands in for openat(2) and its kin.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { Failure, systemCode } from '../../failures.ts';
import { fileFailure } from './atomic-file.ts';
import { wayBelow } from './relative-path.ts';

/** open(2): only a place in the file system, no access. Not among Node's constants; the same on x64 and arm64. */
export const O_PATH = 0o10000000;
const { O_DIRECTORY } = constants;

const LONGEST_PATH_BYTES = 4095;
/** Links that the kernel follows in one path (path_resolution(7)). */
const MOST_LINKS = 40;

/** The directory that nothing may leave, held open. */
export interface Root {
  handle: FileHandle;
  /** Where it really is, as `placeOf` gives it. */
  place: string;
}

/** The parts of a relative path, `.` and `..` resolved as far as they stay inside; what is left of it never climbs. */
export function segmentsOf(path: string): string[] {
  if (path.includes('\0')) throw new Failure('forbidden', 'the path holds a NUL character; leave it out');
  if (path.includes('\\')) throw new Failure('forbidden', `${path}: use '/' between the parts of a path, never '\\'`);
  if (path.startsWith('/'))
    throw new Failure('forbidden', `${path}: give a path relative to the directory, without a leading '/'`);
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES)
    throw new Failure('forbidden', `the path is longer than ${LONGEST_PATH_BYTES} bytes`);
  const segments: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') {
      if (segments.pop() === undefined) throw outside(path);
    } else if (part !== '' && part !== '.') segments.push(part);
  }
  if (segments.length === 0)
    throw new Failure('forbidden', `'${path}': name a file below the directory, not the directory itself`);
  return segments;
}

export async function openRoot(root: string, held: AsyncDisposableStack): Promise<Root> {
  const handle = held.use(await openPlace(root, O_DIRECTORY, root));
  return { handle, place: await placeOf(handle, root) };
}

/** What stands for a descriptor, or for a name in an open directory, in calls that take a path. */
export function at(handle: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${handle.fd}` : `/proc/self/fd/${handle.fd}/${name}`;
}

/**
 * Opens what the segments lead to; below a file there is nothing. Whether there is something outside, where a link leads, cannot be told
 * from the failure.
 */
export async function openFound(top: Root, segments: readonly string[], path: string, flags = 0): Promise<FileHandle> {
  try {
    return await open(at(top.handle, segments.join('/')), O_PATH | flags);
  } catch (thrown) {
    if (await leadsOutside(top, segments)) throw outside(path);
    if (systemCode(thrown) === 'ENOTDIR' && flags === 0)
      throw new Failure('not-found', `${path}: there is no such file`, { cause: thrown });
    throw fileFailure(thrown, path);
  }
}

/** Whether links on the way of a path that cannot be opened lead out of the root, to something or to nothing. */
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
      // No link: a folder, a file, or nothing, below which there is nothing that leads anywhere.
      if ((await lstat(entry).catch(() => undefined)) === undefined) return false;
      continue;
    }
    links += 1;
    way.pop();
    if (posix.isAbsolute(target)) {
      const inside = wayBelow(top.place, posix.normalize(target));
      if (inside === undefined) return true;
      way = [];
      rest.unshift(...inside.split('/'));
    } else rest.unshift(...target.split('/'));
  }
  return false;
}

/** Opens what a path leads to without any effect on it: a FIFO does not block, a device does not notice. */
export async function openPlace(path: string, flags: number, shownAs: string): Promise<FileHandle> {
  try {
    return await open(path, O_PATH | flags);
  } catch (thrown) {
    throw fileFailure(thrown, shownAs);
  }
}

/**
 * Where an open file really is, one character a byte, so that names that are not UTF-8 are not taken for one another.
 */
async function placeOf(handle: FileHandle, shownAs: string): Promise<string> {
  try {
    return await readlink(at(handle), { encoding: 'latin1' });
  } catch (thrown) {
    throw fileFailure(thrown, shownAs);
  }
}

/** Refuses what is not below the root (the root itself passes); answers its place below it. */
export async function placeBelow(top: Root, found: FileHandle, path: string): Promise<string> {
  const place = await placeOf(found, path);
  if (place === top.place) return '';
  const way = wayBelow(top.place, place);
  if (way === undefined) throw outside(path);
  return Buffer.from(way, 'latin1').toString();
}

export function mustBeRegular(stat: Stats, path: string): void {
  if (stat.isDirectory()) throw isDirectory(path);
  if (!stat.isFile()) throw new Failure('forbidden', `${path}: it is a device, pipe or socket; name a regular file`);
}

export function outside(path: string): Failure {
  return new Failure('forbidden', `${path}: it leads outside of the directory`);
}

export function isDirectory(path: string): Failure {
  return new Failure('conflict', `${path}: it is a directory, not a file; name a file in it`);
}
