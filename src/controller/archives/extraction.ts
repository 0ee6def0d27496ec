// Unpacks a project archive into an empty directory that only the caller uses.
import { constants, type StatsFs } from 'node:fs';
import { mkdir, open, statfs, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { outOfSpace } from '../../failures.ts';
import { fileFailure } from '../../host/files/atomic-file.ts';
import { WORTH_SHARING_BYTES } from '../../host/files/share-blocks.ts';
import { writeSparsely } from '../../host/files/sparse-file.ts';
import { counted, ongoing } from '../../host/values/progress.ts';
import type { ArchiveEntry, ArchiveReader } from '../../store/archive/reader.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Unpacks the entries for which `place` returns a path below `directory`. Links come last, so that nothing is ever
 * written through one.
 * @throws Failure `conflict` for damaged contents, `out-of-space` before anything is written if space cannot suffice
 */
export async function extract(
  archive: ArchiveReader,
  directory: string,
  place: (entry: ArchiveEntry) => string | undefined,
): Promise<void> {
  await requireSpace(directory, archive.size);
  const made = new Set<string>();
  const makeFolder = async (folder: string): Promise<void> => {
    if (made.has(folder)) return;
    await mkdir(join(directory, folder), { recursive: true });
    made.add(folder);
  };
  const links: [path: string, target: string][] = [];
  for (const entry of archive.entries.values()) {
    const path = place(entry);
    if (path === undefined) continue;
    try {
      await makeFolder(entry.kind === 'folder' ? path : dirname(path));
      if (entry.kind === 'file') await writeNew(join(directory, path), entry, archive);
      else if (entry.target !== undefined) links.push([path, entry.target]);
    } catch (error) {
      throw fileFailure(error, entry.name);
    }
  }
  for (const [path, target] of links) await symlink(target, join(directory, path));
}

async function writeNew(path: string, entry: ArchiveEntry, archive: ArchiveReader): Promise<void> {
  // The archive does not decide on write access: the owner always has it, others never.
  await using file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (entry.mode & 0o755) | 0o600);
  const shared = entry.size >= WORTH_SHARING_BYTES ? await archive.share(entry, file) : 0;
  let place = 0;
  for await (const chunk of counted(archive.content(entry), ongoing())) {
    const rest = chunk.subarray(Math.max(0, Math.min(chunk.length, shared - place)));
    await writeSparsely(file, rest, place + chunk.length - rest.length);
    place += chunk.length;
  }
  await file.truncate(place);
  await file.utimes(entry.modified, entry.modified);
}

/** @throws Failure `out-of-space` if the file system of `directory` has less than `bytes` free */
export async function requireSpace(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize }: StatsFs = await statfs(directory);
  const free = bavail * bsize;
  if (bytes <= free) return;
  throw outOfSpace(`${bytes} bytes are needed in ${directory}, ${free} are free; free some and try again.`);
}
