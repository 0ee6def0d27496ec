// Files below one directory, named by strangers: never outside of it by any spelling, link or race.
//
// No string that the client sent is ever compared with the root. A path is opened first, without any effect on what it
// leads to (O_PATH), and the decision is made on the open descriptor: the kernel says in /proc/self/fd where it really
// is. From then on only the descriptor is used, so that a directory or file swapped for a link in the meantime changes
// nothing. `/proc/self/fd/<directory>/<name>` stands in for openat(2) and its kin.
import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readlink, rmdir, unlink } from 'node:fs/promises';
import { Failure, systemCode } from '../failures.ts';
import { type AtomicFile, type AtomicFileData, createAtomicFile, fileFailure, isTemporaryName } from './atomic-file.ts';
import { wayBelow } from './below.ts';

/** open(2): only a place in the file system, no access. Not among Node's constants; the same on x64 and arm64. */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;

const LONGEST_PATH = 4095;
/**
 * Levels that a written or removed file may lie below the root: more than any lab has, fewer than the descriptors of a
 * process.
 */
const DEEPEST = 100;

/** The directory that nothing may leave, held open. */
interface Root {
  handle: FileHandle;
  /** Where it really is, as `placeOf` gives it. */
  place: string;
}

/**
 * Opens a regular file below `root` for reading. `path` is relative, percent-decoded, with `/` between its parts;
 * links that stay inside are followed. Failures: `forbidden` (leaves the directory, is no regular file, may not be
 * read), `not-found`, `conflict` (a directory). The caller closes the handle.
 */
export async function openContainedForRead(root: string, path: string): Promise<{ handle: FileHandle; stat: Stats }> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(root, held);
  const found = held.use(await openFound(top, segmentsOf(path).join('/'), path));
  await placeBelow(top, found, path);
  const stat = await found.stat();
  mustBeRegular(stat, path);
  try {
    // By its descriptor: the very file that was judged, whatever its name leads to by now.
    return { handle: await open(at(found), O_RDONLY | O_NONBLOCK | O_NOCTTY), stat };
  } catch (thrown) {
    throw fileFailure(thrown, path);
  }
}

export interface WriteOptions {
  /** Makes missing directories on the way; without it they are a `not-found`. */
  createParents: boolean;
  /** Permission bits; those of the file that is replaced, or 0644 less the umask, when not given. */
  mode?: number;
  /** Writes the data into the file and commits it; on the way it may do more with it. */
  fill?: (file: AtomicFile, data: AtomicFileData) => Promise<unknown>;
}

async function writeWhole(file: AtomicFile, data: AtomicFileData): Promise<void> {
  await file.write(data);
  await file.commit();
}

/**
 * Creates or replaces a regular file below `root`, as a whole or not at all: if the data break off, neither the file
 * nor a parent directory made for it stays. A link that stays inside is written through. Failures as for reading, and
 * `not-found` for a missing parent unless `createParents`.
 */
export async function writeContained(
  root: string,
  path: string,
  data: AtomicFileData,
  { createParents, mode: wanted, fill = writeWhole }: WriteOptions,
): Promise<void> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(root, held);
  await using made = new AsyncDisposableStack();
  const segments = segmentsOf(path);
  const direct = await openTarget(top, segments, path, held, createParents ? made : undefined);
  const target =
    direct.leadsTo === undefined ? direct : await openTarget(top, direct.leadsTo.split('/'), path, held, undefined);
  if (target.leadsTo !== undefined) throw outside(path);
  if (isTemporaryName(target.name)) {
    throw new Failure('forbidden', `${path}: such names are kept for unfinished uploads; choose another`);
  }
  const mode = wanted ?? target.mode;
  await using file = await createAtomicFile(at(target.directory, target.name), {
    shownAs: path,
    ...(mode === undefined ? {} : { mode }),
  });
  await fill(file, data);
  made.move();
}

/**
 * Removes a file (or a link itself, wherever it leads) below `root`. Failures: `forbidden`, `not-found`, `conflict` (a
 * directory).
 */
export async function removeContained(root: string, path: string): Promise<void> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(root, held);
  const segments = segmentsOf(path);
  const directory = await openParent(top, segments, path, held, undefined);
  const entry = at(directory, segments.at(-1));
  try {
    if ((await lstat(entry)).isDirectory()) throw isDirectory(path);
    await unlink(entry);
  } catch (thrown) {
    throw fileFailure(thrown, path);
  }
}

/**
 * Every regular file below `root`, in no particular order, `path` relative to it with `/` between its parts. Links to
 * directories are not followed, links to files only if those are inside; unfinished uploads and what cannot be read or
 * vanishes meanwhile are left out. A folder that `enter` refuses is passed by.
 */
export async function* listContained(
  root: string,
  enter: (folder: string) => boolean = () => true,
): AsyncGenerator<{ path: string; stat: Stats }> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(root, held);
  for await (const { path, directory, entry } of entriesBelow(top, enter)) {
    if (entry === undefined || isTemporaryName(entry.name) || !(entry.isFile() || entry.isSymbolicLink())) continue;
    const stat = await statFile(top, directory, entry.name);
    if (stat !== undefined) yield { path, stat };
  }
}

/** Something below a directory, as it stands there: a link is a link. `path` is relative, with `/` between its parts. */
export type ContainedEntry =
  | { kind: 'empty folder' | 'unreadable folder'; path: string }
  | { kind: 'link'; path: string; target: string }
  /** `open` gives the file for reading, as long as the walk has not gone on; the caller closes the handle. */
  | { kind: 'file'; path: string; open: () => Promise<{ handle: FileHandle; stat: Stats }> };

/**
 * Everything below `root` that can be copied, in no particular order: regular files, links (followed nowhere), and folders that
 * hold nothing. Unfinished uploads, pipes, sockets and devices are left out. A folder that `enter` refuses is passed by.
 */
export async function* walkContained(
  root: string,
  enter: (folder: string) => boolean = () => true,
): AsyncGenerator<ContainedEntry> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(root, held);
  for await (const { path, directory, entry, readable } of entriesBelow(top, enter)) {
    if (entry === undefined) yield { kind: readable ? 'empty folder' : 'unreadable folder', path };
    else if (isTemporaryName(entry.name)) continue;
    else if (entry.isFile()) yield { kind: 'file', path, open: () => openEntry(directory, entry.name, path) };
    else if (entry.isSymbolicLink()) {
      const target = await readlink(at(directory, entry.name)).catch(() => undefined);
      if (target !== undefined) yield { kind: 'link', path, target };
    }
  }
}

/** Opens a regular file in an open directory; not what has taken its place meanwhile. */
async function openEntry(
  directory: FileHandle,
  name: string,
  path: string,
): Promise<{ handle: FileHandle; stat: Stats }> {
  await using undo = new AsyncDisposableStack();
  try {
    const handle = undo.use(await open(at(directory, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    const stat = await handle.stat();
    mustBeRegular(stat, path);
    undo.move();
    return { handle, stat };
  } catch (thrown) {
    throw fileFailure(thrown, path);
  }
}

/** The entries of all folders below the root that are not folders themselves; a folder without any is told as such. */
async function* entriesBelow(
  top: Root,
  enter: (folder: string) => boolean,
): AsyncGenerator<{ path: string; directory: FileHandle; entry: Dirent | undefined; readable: boolean }> {
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    await using directory = await openFolder(top, folder);
    if (directory === undefined) continue;
    const entries = await readdir(at(directory), { withFileTypes: true }).catch(() => undefined);
    if (folder !== '' && !entries?.length) {
      yield { path: folder, directory, entry: undefined, readable: entries !== undefined };
    }
    for (const entry of entries ?? []) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) yield { path, directory, entry, readable: true };
      else if (enter(path)) pending.push(path);
    }
  }
}

/** The parts of a relative path, `.` and `..` resolved as far as they stay inside; what is left of it never climbs. */
function segmentsOf(path: string): string[] {
  if (path.includes('\0')) throw new Failure('forbidden', 'the path holds a NUL character; leave it out');
  if (path.includes('\\')) throw new Failure('forbidden', `${path}: use '/' between the parts of a path, never '\\'`);
  if (path.startsWith('/'))
    throw new Failure('forbidden', `${path}: give a path relative to the directory, without a leading '/'`);
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw new Failure('forbidden', `the path is longer than ${LONGEST_PATH} bytes`);
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

async function openRoot(root: string, held: AsyncDisposableStack): Promise<Root> {
  const handle = held.use(await openPlace(root, O_DIRECTORY, root));
  return { handle, place: await placeOf(handle, root) };
}

/** What stands for a descriptor, or for a name in an open directory, in calls that take a path. */
function at(handle: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${handle.fd}` : `/proc/self/fd/${handle.fd}/${name}`;
}

/** Opens what is to be read; below a file there is nothing. */
async function openFound(top: Root, relative: string, path: string): Promise<FileHandle> {
  try {
    return await open(at(top.handle, relative), O_PATH);
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOTDIR')
      throw new Failure('not-found', `${path}: there is no such file`, { cause: thrown });
    throw fileFailure(thrown, path);
  }
}

/** Opens what a path leads to without any effect on it: a FIFO does not block, a device does not notice. */
async function openPlace(path: string, flags: number, shownAs: string): Promise<FileHandle> {
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
async function placeBelow(top: Root, found: FileHandle, path: string): Promise<string> {
  const place = await placeOf(found, path);
  if (place === top.place) return '';
  const way = wayBelow(top.place, place);
  if (way === undefined) throw outside(path);
  return Buffer.from(way, 'latin1').toString();
}

function mustBeRegular(stat: Stats, path: string): void {
  if (stat.isDirectory()) throw isDirectory(path);
  if (!stat.isFile()) throw new Failure('forbidden', `${path}: it is a device, pipe or socket; name a regular file`);
}

function outside(path: string): Failure {
  return new Failure('forbidden', `${path}: it leads outside of the directory`);
}

function isDirectory(path: string): Failure {
  return new Failure('conflict', `${path}: it is a directory, not a file; name a file in it`);
}

interface WriteTarget {
  directory: FileHandle;
  name: string;
  /** Permission bits of the file that is there. */
  mode?: number;
  /** Path below the root that the link of this name leads to. */
  leadsTo?: string;
}

/** Opens the directory to write in and judges what is there under the name. */
async function openTarget(
  top: Root,
  segments: string[],
  path: string,
  held: AsyncDisposableStack,
  made: AsyncDisposableStack | undefined,
): Promise<WriteTarget> {
  const directory = await openParent(top, segments, path, held, made);
  const name = segments.at(-1)!;
  let stat: Stats;
  try {
    stat = await lstat(at(directory, name));
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return { directory, name };
    throw fileFailure(thrown, path);
  }
  if (stat.isSymbolicLink()) {
    const found = await open(at(directory, name), O_PATH).catch(() => undefined);
    // A link to nothing says nothing about where a file would come into being.
    if (found === undefined) throw outside(path);
    return { directory, name, leadsTo: await placeBelow(top, held.use(found), path) };
  }
  mustBeRegular(stat, path);
  return { directory, name, mode: stat.mode & 0o777 };
}

/**
 * Opens the directory that the last part is in, one part after the other; links on the way are followed as long as
 * they stay inside. With `made`, missing directories are created; it undoes that when disposed of.
 */
async function openParent(
  top: Root,
  segments: string[],
  path: string,
  held: AsyncDisposableStack,
  made: AsyncDisposableStack | undefined,
): Promise<FileHandle> {
  if (segments.length > DEEPEST) throw new Failure('forbidden', `${path}: more than ${DEEPEST} levels deep`);
  let directory = top.handle;
  for (const name of segments.slice(0, -1)) {
    const entry = at(directory, name);
    const there = await openPlace(entry, O_DIRECTORY, path).catch((thrown: unknown) => {
      if (made !== undefined && thrown instanceof Failure && thrown.code === 'not-found') return undefined;
      throw thrown;
    });
    directory = held.use(there ?? (await makeDirectory(entry, path, made!)));
    await placeBelow(top, directory, path);
  }
  return directory;
}

async function makeDirectory(entry: string, path: string, made: AsyncDisposableStack): Promise<FileHandle> {
  try {
    await mkdir(entry);
    made.defer(() => rmdir(entry).catch(() => {}));
  } catch (thrown) {
    // Somebody else was faster, or a link to nothing has this name: opening it without following links tells.
    if (systemCode(thrown) !== 'EEXIST') throw fileFailure(thrown, path);
  }
  return await open(entry, O_PATH | O_DIRECTORY | O_NOFOLLOW).catch(() => {
    throw outside(path);
  });
}

/** Opens a directory of the tree for listing; undefined if it is gone or was swapped for a link. */
async function openFolder(top: Root, folder: string): Promise<FileHandle | undefined> {
  if (folder === '') return await open(at(top.handle), O_PATH | O_DIRECTORY);
  const handle = await open(at(top.handle, folder), O_PATH | O_DIRECTORY).catch(() => undefined);
  if (handle === undefined) return undefined;
  const place = await placeBelow(top, handle, folder).catch(() => undefined);
  if (place === folder) return handle;
  await handle.close();
  return undefined;
}

/** The status of a regular file in an open directory, or of the one inside the root that a link leads to. */
async function statFile(top: Root, directory: FileHandle, name: string): Promise<Stats | undefined> {
  try {
    const stat = await lstat(at(directory, name));
    if (stat.isFile()) return stat;
    if (!stat.isSymbolicLink()) return undefined;
    await using found = await open(at(directory, name), O_PATH);
    await placeBelow(top, found, name);
    const linked = await found.stat();
    return linked.isFile() ? linked : undefined;
  } catch {
    return undefined;
  }
}
