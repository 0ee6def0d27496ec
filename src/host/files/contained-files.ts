// Reads, writes and removes files below one directory by untrusted names. No spelling, link or race leads outside it.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rmdir, unlink } from 'node:fs/promises';
import { forbidden, systemCode } from '../../failures.ts';
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
 * Levels below the root that a written or removed file may lie at: more than any lab has, fewer than a process may have
 * descriptors.
 */
const DEEPEST = 100;

/**
 * Longest relative path that is written, as in archives. The rest of what a system call takes is for the directory's own
 * path and for the folders in which projects are assembled and removed.
 */
const LONGEST_WRITTEN_BYTES = 3_000;

/**
 * Opens a regular file below `root` for reading. `path` is relative, percent-decoded, with `/` between its parts. Links
 * that stay inside are followed. Failures: `forbidden` (leaves the directory, no regular file, not readable),
 * `not-found`, `conflict` (a directory). The caller closes the handle.
 */
export async function openContainedForRead(root: string, path: string): Promise<OpenFile> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(root, held);
  const found = held.use(await openFound(top, segmentsOf(path), path));
  await placeBelow(top, found, path);
  return await openJudged(found, path);
}

export interface WriteOptions {
  /** Creates missing parent directories. Otherwise they are `not-found`. */
  createParents: boolean;
  /** Permission bits. Default: those of the replaced file, or 0644 less the umask. */
  mode?: number;
  /** Writes the data to the file and commits it. May process the data on the way. */
  fill?: (file: AtomicFile, data: AtomicFileData) => Promise<unknown>;
}

async function writeWhole(file: AtomicFile, data: AtomicFileData): Promise<void> {
  await file.write(data);
  await file.commit();
}

/**
 * Creates or replaces a regular file below `root` atomically: if the data breaks off, neither the file nor a new parent
 * directory stays. Links that stay inside are written through. Failures as for reading, and `not-found` for a missing
 * parent unless `createParents`.
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
  const bytes = Buffer.byteLength(segments.join('/'));
  if (bytes > LONGEST_WRITTEN_BYTES)
    throw forbidden(`path: ${bytes} bytes long; use at most ${LONGEST_WRITTEN_BYTES} bytes`);
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
 * Removes a file (or a link itself, not its target) below `root`. Failures: `forbidden`, `not-found`, `conflict` (a
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
  /** Permission bits of the existing file. */
  mode?: number;
  /** If the name is a link: the path of its target below the root. */
  leadsTo?: string;
}

/** Opens the directory to write in and checks the existing entry of that name. */
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
    // A dangling link does not say where the file would be created.
    if (found === undefined) throw outside(path);
    return { directory, name, leadsTo: await placeBelow(top, held.use(found), path) };
  }
  mustBeRegular(stat, path);
  return { directory, name, mode: stat.mode & 0o777 };
}

/**
 * Opens the parent directory of the last part, one part after the other. Links are followed if they stay inside. With
 * `made`, missing directories are created; disposing of it removes them again.
 */
async function openParent(
  top: Root,
  segments: string[],
  path: string,
  held: AsyncDisposableStack,
  made: AsyncDisposableStack | undefined,
): Promise<FileHandle> {
  if (segments.length > DEEPEST) throw forbidden(`${path}: more than ${DEEPEST} levels deep`);
  let directory = top.handle;
  for (const [index, name] of segments.slice(0, -1).entries()) {
    const entry = at(directory, name);
    const there = await openDirectory(entry).catch(async (thrown: unknown) => {
      if (made !== undefined && systemCode(thrown) === 'ENOENT') return undefined;
      // Fails with the reason, without disclosing anything outside.
      return await openFound(top, segments.slice(0, index + 1), path, O_DIRECTORY);
    });
    directory = held.use(there ?? (await makeDirectory(entry, path, made!)));
    await placeBelow(top, directory, path);
  }
  return directory;
}

/** Opens without side effects, whatever a link of this name leads to. */
function openDirectory(entry: string): Promise<FileHandle> {
  return open(entry, O_PATH | O_DIRECTORY);
}

async function makeDirectory(entry: string, path: string, made: AsyncDisposableStack): Promise<FileHandle> {
  try {
    await mkdir(entry);
    made.defer(() => rmdir(entry).catch(() => {}));
  } catch (thrown) {
    // Another process was faster, or a dangling link has this name. Opening without following links shows which.
    if (systemCode(thrown) !== 'EEXIST') throw fileFailure(thrown, path);
  }
  return await open(entry, O_PATH | O_DIRECTORY | O_NOFOLLOW).catch(() => {
    throw outside(path);
  });
}
