// Files below one directory, named by strangers: read, written and removed, never outside of it by any spelling, link or race.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rmdir, unlink } from 'node:fs/promises';
import { Failure, systemCode } from '../../failures.ts';
import { type AtomicFile, type AtomicFileData, createAtomicFile, fileFailure } from './atomic-file.ts';
import {
  at,
  isDirectory,
  mustBeRegular,
  O_PATH,
  openFound,
  openRoot,
  outside,
  placeBelow,
  type Root,
  segmentsOf,
} from './contained-place.ts';
import { type OpenFile, openJudged } from './regular-file.ts';
import { refuseReservedNames } from './reserved-names.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * Levels that a written or removed file may lie below the root: more than any lab has, fewer than the descriptors of a
 * process.
 */
const DEEPEST = 100;

/**
 * Opens a regular file below `root` for reading. `path` is relative, percent-decoded, with `/` between its parts;
 * links that stay inside are followed. Failures: `forbidden` (leaves the directory, is no regular file, may not be
 * read), `not-found`, `conflict` (a directory). The caller closes the handle.
 */
export async function openContainedForRead(root: string, path: string): Promise<OpenFile> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(root, held);
  const found = held.use(await openFound(top, segmentsOf(path), path));
  await placeBelow(top, found, path);
  return await openJudged(found, path);
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
  refuseReservedNames(segments.join('/'), path);
  const direct = await openTarget(top, segments, path, held, createParents ? made : undefined);
  const target =
    direct.leadsTo === undefined ? direct : await openTarget(top, direct.leadsTo.split('/'), path, held, undefined);
  if (target.leadsTo !== undefined) throw outside(path);
  refuseReservedNames(target.name, path);
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
  for (const [index, name] of segments.slice(0, -1).entries()) {
    const entry = at(directory, name);
    const there = await openDirectory(entry).catch(async (thrown: unknown) => {
      if (made !== undefined && systemCode(thrown) === 'ENOENT') return undefined;
      // Says why, and nothing of what is outside.
      return await openFound(top, segments.slice(0, index + 1), path, O_DIRECTORY);
    });
    directory = held.use(there ?? (await makeDirectory(entry, path, made!)));
    await placeBelow(top, directory, path);
  }
  return directory;
}

/** Without any effect on it, wherever a link of this name leads. */
function openDirectory(entry: string): Promise<FileHandle> {
  return open(entry, O_PATH | O_DIRECTORY);
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
