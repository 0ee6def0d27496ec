// Copies directories. Where the file system supports it, a copy shares its blocks with the original until either is
// written. Never hard links: they would share later writes, too.
import { constants } from 'node:fs';
import { copyFile, mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { conflict, Failure, ignoreNotFound } from '../failures.ts';
import { fileFailure } from '../host/files/atomic-file.ts';
import { type ContainedEntry, listContained, walkContained } from '../host/files/contained-tree.ts';
import type { OpenFile } from '../host/files/regular-file.ts';
import { writeSparsely } from '../host/files/sparse-file.ts';
import { ongoing } from '../host/values/progress.ts';

/** Where blocks cannot be shared, a larger file is copied in pieces, for progress and cancellation. */
const LARGE_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/**
 * Copies the content of `from` to the new folder `to`: files, links as links, empty folders.
 * @param wanted whether to copy something, by its relative path; of a folder, whether to enter it
 * @param leaveOut entries that stay behind
 */
export async function copyTree(
  from: string,
  to: string,
  wanted: (path: string) => boolean = () => true,
  leaveOut: (entry: ContainedEntry) => boolean = () => false,
): Promise<void> {
  await mkdir(to, { recursive: true });
  const made = new Set<string>();
  const progress = ongoing();
  for await (const entry of walkContained(from, wanted)) {
    progress.check();
    if (!wanted(entry.path) || leaveOut(entry)) continue;
    const target = join(to, entry.path);
    const folder = entry.kind === 'empty folder' ? target : dirname(target);
    try {
      if (!made.has(folder)) await mkdir(folder, { recursive: true });
      made.add(folder);
      if (entry.kind === 'link') await symlink(entry.target, target);
      else if (entry.kind === 'file') await copyOne(entry, target);
      else if (entry.kind === 'unreadable folder') throw Object.assign(new Error(), { code: 'EACCES' });
    } catch (error) {
      throw asConflict(fileFailure(error, entry.path));
    }
  }
}

/** A file that vanishes meanwhile is ignored. */
async function copyOne({ open }: ContainedEntry & { kind: 'file' }, target: string): Promise<void> {
  const opened = await open().catch(ignoreNotFound);
  if (!opened) return;
  await using source = opened.handle;
  const { size } = opened.stat;
  // Copies the open file itself, wherever its name leads by now.
  const copy = (mode: number): Promise<void> =>
    copyFile(`/proc/self/fd/${source.fd}`, target, constants.COPYFILE_EXCL | mode);
  if (size < LARGE_BYTES) await copy(constants.COPYFILE_FICLONE);
  else if (!(await copy(constants.COPYFILE_FICLONE_FORCE).then(always, never)))
    return await copyInPieces(opened, target);
  ongoing().advance(size, 'bytes');
}

const always = (): boolean => true;
const never = (): boolean => false;

async function copyInPieces({ handle, stat }: OpenFile, target: string): Promise<void> {
  const progress = ongoing();
  await using copy = await open(target, 'wx', stat.mode & 0o777);
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let place = 0;
  for (;;) {
    progress.check();
    const { bytesRead } = await handle.read(piece, 0, piece.length, place);
    if (bytesRead === 0) break;
    await writeSparsely(copy, piece.subarray(0, bytesRead), place);
    place += bytesRead;
    progress.advance(bytesRead, 'bytes');
  }
  await copy.truncate(place);
}

/** Bytes of the wanted files below a directory. Unreadable files are skipped; reading them reports the error. */
export async function bytesBelow(
  directory: string,
  wanted: (path: string) => boolean,
  enter: (folder: string) => boolean = wanted,
): Promise<number> {
  let bytes = 0;
  for await (const { path, stat } of listContained(directory, enter)) if (wanted(path)) bytes += stat.size;
  return bytes;
}

/** Reports an inaccessible file of the server as a conflict: the client did not request that file. */
export function asConflict(error: unknown): unknown {
  if (!(error instanceof Failure) || (error.code !== 'forbidden' && error.code !== 'not-found')) return error;
  return conflict(error.message, { cause: error });
}
