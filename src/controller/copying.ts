// Copies of directories. Where the file system can, copies share their blocks with the originals until one of both is written;
// hard links would share every later write, too, so there are none.
import { constants } from 'node:fs';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../failures.ts';
import { fileFailure } from '../host/atomic-file.ts';
import { type ContainedEntry, walkContained } from '../host/contained-tree.ts';

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
  for await (const entry of walkContained(from, wanted)) {
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
  // The open file itself, whatever its name leads to by now.
  await copyFile(`/proc/self/fd/${source.fd}`, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** A file of the server's own that may not be touched is, to a client, a conflict: it has not asked for the file. */
export function asConflict(error: unknown): unknown {
  if (!(error instanceof Failure) || (error.code !== 'forbidden' && error.code !== 'not-found')) return error;
  return new Failure('conflict', error.message, { cause: error });
}
