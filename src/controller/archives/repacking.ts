// Rewrites the snapshots in an imported archive: they contain the id and name of their original project and must
// contain those of the new one, so that every server restores them.
import { lstat, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { REVISION } from '../../api/topology.ts';
import { Failure, messageOf } from '../../failures.ts';
import { writeFileAtomically } from '../../host/files/atomic-file.ts';
import { namesIn } from '../../host/files/directories.ts';
import { DEFLATED, STORED } from '../../store/archive/compressors.ts';
import { type ArchiveEntry, ArchiveReader } from '../../store/archive/reader.ts';
import { packArchive } from '../../store/archive/writer.ts';
import type { JsonObject } from '../../store/json.ts';
import { upgradeTopology } from '../../store/topology/upgrade.ts';
import { LINK_RULES } from './links.ts';
import { PROJECT_FILE, readProject } from './project-file.ts';

export const SNAPSHOTS = 'snapshots';
export const SNAPSHOT_EXTENSION = '.gns3project';

/** Whether an entry is a snapshot, which is itself an archive to unpack. */
export function isSnapshot({ name, kind }: ArchiveEntry): boolean {
  return kind === 'file' && dirname(name) === SNAPSHOTS && name.endsWith(SNAPSHOT_EXTENSION);
}

/** The unpacked size (bytes) of a project directory's snapshots, without unreadable ones. */
export async function sizeOfSnapshots(directory: string): Promise<number> {
  let size = 0;
  const folder = join(directory, SNAPSHOTS);
  for (const file of await namesIn(folder)) {
    try {
      await using handle = await open(join(folder, file));
      size += (await ArchiveReader.open(handle, LINK_RULES)).size;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'conflict') throw error;
    }
  }
  return size;
}

/** Rewrites the snapshots of a project directory; unreadable ones stay unchanged and are reported to `warn`. */
export async function repackSnapshots(
  directory: string,
  identity: { project_id: string; name: string },
  warn: (message: string) => void,
): Promise<void> {
  const folder = join(directory, SNAPSHOTS);
  for (const file of await namesIn(folder)) {
    if (!file.endsWith(SNAPSHOT_EXTENSION) || !(await lstat(join(folder, file))).isFile()) continue;
    try {
      await repack(join(folder, file), identity);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'conflict') throw error;
      warn(`The snapshot ${file} cannot be read: ${messageOf(error)}`);
    }
  }
}

/** A release restores no snapshot of a later revision than its own. Older ones it upgrades, with their files. */
function restorable(project: JsonObject): JsonObject {
  const isLater = Number(project['revision']) > REVISION;
  return isLater ? upgradeTopology(project, { keepSuspension: true }).document : project;
}

async function repack(path: string, identity: { project_id: string; name: string }): Promise<void> {
  await using handle = await open(path);
  const archive = await ArchiveReader.open(handle, LINK_RULES);
  const topology = JSON.stringify({ ...restorable(await readProject(archive)), ...identity });
  // Compressed archives stay compressed: an archive of zeros must not fill the disk.
  const compressed = [...archive.entries.values()].some(({ raw }) => raw.compressionMethod !== 0);
  const packed = packArchive(compressed ? DEFLATED : STORED, async (writer) => {
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
