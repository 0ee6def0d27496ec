// Copies of directories. Where the file system can, copies share their blocks with the originals until one of both is written;
// hard links would share every later write, too, so there are none.
import { constants } from 'node:fs';
import { copyFile, mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../failures.ts';
import { fileFailure } from '../host/files/atomic-file.ts';
import { type ContainedEntry, listContained, walkContained } from '../host/files/contained-tree.ts';
import type { OpenFile } from '../host/files/regular-file.ts';
import { writeSparsely } from '../host/files/sparse-file.ts';
import { ongoing } from '../host/values/progress.ts';

/** A larger file is copied piece by piece where blocks cannot be shared, so that its copy can be watched and cancelled. */
const LARGE_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/**
 * Copies what is below `from` to below `to`, which is made: files, links as links, empty folders.
 * @param wanted tells by the relative path whether something is copied
 */
export async function copyTree(
  from: string,
  to: string,
  wanted: (path: string) => boolean = () => true,
): Promise<void> {
  await mkdir(to, { recursive: true });
  const made = new Set<string>();
  const progress = ongoing();
  for await (const entry of walkContained(from, wanted)) {
    progress.check();
    if (!wanted(entry.path)) continue;
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

/** One that vanishes meanwhile is not missed. */
async function copyOne({ open }: ContainedEntry & { kind: 'file' }, target: string): Promise<void> {
  const opened = await open().catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'not-found') return undefined;
    throw error;
  });
  if (!opened) return;
  await using source = opened.handle;
  const { size } = opened.stat;
  // The open file itself, whatever its name leads to by now.
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

/** Bytes of the files below a directory that are wanted. Those that cannot be read are told by whoever reads them. */
export async function bytesBelow(
  directory: string,
  wanted: (path: string) => boolean,
  enter: (folder: string) => boolean = wanted,
): Promise<number> {
  let bytes = 0;
  for await (const { path, stat } of listContained(directory, enter)) if (wanted(path)) bytes += stat.size;
  return bytes;
}

/** A file of the server's own that may not be touched is, to a client, a conflict: it has not asked for the file. */
export function asConflict(error: unknown): unknown {
  if (!(error instanceof Failure) || (error.code !== 'forbidden' && error.code !== 'not-found')) return error;
  return new Failure('conflict', error.message, { cause: error });
}
