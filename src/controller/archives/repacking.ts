// Snapshots that come with a project name the project that they were taken of: they are written anew for the one that they belong
// to now, so that every server restores them into it.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Failure, messageOf } from '../../failures.ts';
import { writeFileAtomically } from '../../host/atomic-file.ts';
import { namesIn } from '../../host/directories.ts';
import { ArchiveReader } from '../../store/archive/reader.ts';
import { packArchive } from '../../store/archive/writer.ts';
import { isContainerFile } from './extraction.ts';
import { PROJECT_FILE, readProject } from './project-file.ts';

export const SNAPSHOTS = 'snapshots';
export const SNAPSHOT_EXTENSION = '.gns3project';

/** Rewrites the snapshots of a project directory; `warn` is told of those that cannot be read, which stay as they are. */
export async function repackSnapshots(
  directory: string,
  identity: { project_id: string; name: string },
  warn: (message: string) => void,
): Promise<void> {
  const folder = join(directory, SNAPSHOTS);
  for (const file of await namesIn(folder)) {
    if (!file.endsWith(SNAPSHOT_EXTENSION)) continue;
    try {
      await repack(join(folder, file), identity);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'conflict') throw error;
      warn(`The snapshot ${file} cannot be read: ${messageOf(error)}`);
    }
  }
}

async function repack(path: string, identity: { project_id: string; name: string }): Promise<void> {
  await using handle = await open(path);
  const archive = await ArchiveReader.open(handle, { absoluteLinks: isContainerFile });
  const topology = JSON.stringify({ ...(await readProject(archive)), ...identity });
  const packed = packArchive('stored', async (writer) => {
    for (const entry of archive.entries.values()) {
      const { name, kind, target, mode, modified } = entry;
      if (name === PROJECT_FILE) await writer.addText(name, topology);
      else if (kind === 'folder') await writer.addFolder(name);
      else if (target !== undefined) await writer.addLink(name, target);
      else await writer.addFile(name, Readable.from(archive.content(entry)), { mode, modified });
    }
  });
  await writeFileAtomically(path, packed);
}
