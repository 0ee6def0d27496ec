// Lists and walks a directory that untrusted users write in. No link or race leads outside it.
import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { Failure, systemCode } from '../../failures.ts';
import { fileFailure, isTemporaryName } from './atomic-file.ts';
import { at, mustBeRegular, O_PATH, openRoot, placeBelow, type Root } from './contained-place.ts';
import { type OpenFile, READ_WITHOUT_WAITING } from './regular-file.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;

/** Entries that appeared or vanished meanwhile, or may not be read, are skipped. Any other disk error is a failure. */
const PASSED_BY: readonly string[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM'];

function passBy(thrown: unknown): undefined {
  const cause = thrown instanceof Failure ? thrown.cause : thrown;
  if (thrown instanceof Failure && cause === undefined) return undefined;
  if (PASSED_BY.includes(systemCode(cause) ?? '')) return undefined;
  throw thrown;
}

/**
 * Every regular file below `root`, in no particular order. `path` is relative, with `/` between its parts. Links to
 * directories are not followed, links to files only if they stay inside. Unfinished uploads and unreadable or vanished
 * files are left out, as are folders that `enter` refuses.
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

/** An entry below a directory, links not followed. `path` is relative, with `/` between its parts. */
export type ContainedEntry =
  | { kind: 'empty folder' | 'unreadable folder'; path: string }
  | { kind: 'link'; path: string; target: string }
  /** `open` opens the file for reading until the walk goes on. The caller closes the handle. */
  | { kind: 'file'; path: string; open: () => Promise<OpenFile> };

/**
 * Everything below `root` that can be copied, in no particular order: regular files, links (not followed), and empty
 * folders. Unfinished uploads, pipes, sockets and devices are left out, as are folders that `enter` refuses.
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
      const target = await readlink(at(directory, entry.name)).catch(passBy);
      if (target !== undefined) yield { kind: 'link', path, target };
    }
  }
}

/** Opens a regular file in an open directory. Fails if it was replaced by something else meanwhile. */
async function openEntry(directory: FileHandle, name: string, path: string): Promise<OpenFile> {
  await using undo = new AsyncDisposableStack();
  try {
    const handle = undo.use(await open(at(directory, name), READ_WITHOUT_WAITING | O_NOFOLLOW));
    const stat = await handle.stat();
    mustBeRegular(stat, path);
    undo.move();
    return { handle, stat };
  } catch (thrown) {
    throw fileFailure(thrown, path);
  }
}

/** The entries of all folders below the root except the folders themselves. Empty folders are reported. */
async function* entriesBelow(
  top: Root,
  enter: (folder: string) => boolean,
): AsyncGenerator<{ path: string; directory: FileHandle; entry: Dirent | undefined; readable: boolean }> {
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    await using directory = await openFolder(top, folder);
    if (directory === undefined) continue;
    const entries = await readdir(at(directory), { withFileTypes: true }).catch(passBy);
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

/** Opens a directory of the tree for listing. Undefined if it is gone or was replaced by a link. */
export async function openFolder(top: Root, folder: string): Promise<FileHandle | undefined> {
  if (folder === '') return await open(at(top.handle), O_PATH | O_DIRECTORY);
  const handle = await open(at(top.handle, folder), O_PATH | O_DIRECTORY).catch(passBy);
  if (handle === undefined) return undefined;
  await using undo = new AsyncDisposableStack();
  undo.use(handle);
  const place = await placeBelow(top, handle, folder).catch(passBy);
  if (place !== folder) return undefined;
  undo.move();
  return handle;
}

/** The status of a regular file in an open directory, or of a link's target inside the root. */
async function statFile(top: Root, directory: FileHandle, name: string): Promise<Stats | undefined> {
  try {
    const stat = await lstat(at(directory, name));
    if (stat.isFile()) return stat;
    if (!stat.isSymbolicLink()) return undefined;
    await using found = await open(at(directory, name), O_PATH);
    await placeBelow(top, found, name);
    const linked = await found.stat();
    return linked.isFile() ? linked : undefined;
  } catch (thrown) {
    return passBy(thrown);
  }
}
