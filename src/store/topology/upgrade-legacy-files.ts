// Moves files of a 1.x project to their new places: snapshots in folders, pictures anywhere, notes under another name.
import { lstat, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict } from '../../failures.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import { openContainedForRead, writeContained } from '../../host/files/contained-files.ts';
import { walkContained } from '../../host/files/contained-tree.ts';
import { STORED } from '../archive/compressors.ts';
import { nameProblem } from '../archive/names.ts';
import { packArchive } from '../archive/writer.ts';
import { pictureName } from './upgrade-legacy-drawings.ts';

const OLD_SNAPSHOTS = 'project-files/snapshots';
/** The lab within a snapshot's folder. */
const TOPOLOGY = /^[^/]+\.gns3$/;
const PICTURES = 'project-files/images';
const OLD_NOTES = 'instructions.txt';
const NOTES = 'README.txt';

/**
 * Moves the files to this release's places; may be repeated after an interruption. Nothing outside the project is
 * touched.
 */
export async function moveLegacyFiles(directory: string, pictures: readonly string[]): Promise<void> {
  await packSnapshots(directory);
  for (const picture of pictures) await copyPicture(directory, picture);
  if ((await kindOf(directory, OLD_NOTES)) === 'file' && (await kindOf(directory, NOTES)) === 'nothing') {
    await rename(join(directory, OLD_NOTES), join(directory, NOTES)).catch(throwFileFailure(OLD_NOTES));
  }
}

/** Packs each folder into an archive with its name, then deletes it. */
async function packSnapshots(directory: string): Promise<void> {
  if (
    (await kindOf(directory, 'project-files')) !== 'folder' ||
    (await kindOf(directory, OLD_SNAPSHOTS)) !== 'folder'
  ) {
    return;
  }
  for (const name of await readdir(join(directory, OLD_SNAPSHOTS))) {
    const folder = `${OLD_SNAPSHOTS}/${name}`;
    // A folder without a lab is not a snapshot, and stays.
    if ((await kindOf(directory, folder)) !== 'folder' || !(await hasTopology(join(directory, folder)))) continue;
    const archive = packArchive(STORED, async (writer) => {
      let isPacked = false;
      for await (const entry of walkContained(join(directory, folder))) {
        const isTopology = TOPOLOGY.test(entry.path);
        if (nameProblem(entry.path) !== undefined || (isTopology && isPacked)) continue;
        isPacked ||= isTopology;
        // The topology has the same name in all archives.
        const path = isTopology ? 'project.gns3' : entry.path;
        if (entry.kind === 'empty folder') await writer.addFolder(path);
        else if (entry.kind === 'link') await writer.addLink(path, entry.target);
        else if (entry.kind === 'file') await writer.addOpenFile(path, await entry.open());
        else throw conflict(`${folder}/${path}: permission denied; make it readable`);
      }
    });
    await writeContained(directory, `snapshots/${name}.gns3project`, archive, { createParents: true });
    await rm(join(directory, folder), { recursive: true });
  }
  // Other files in it keep it.
  await rmdir(join(directory, OLD_SNAPSHOTS)).catch(() => {});
}

async function hasTopology(folder: string): Promise<boolean> {
  return (await readdir(folder)).some((name) => TOPOLOGY.test(name));
}

/** Pictures were named by a path within the project, or on the machine where the lab was drawn. */
async function copyPicture(directory: string, picture: string): Promise<void> {
  const name = pictureName(picture);
  for (const place of [picture, `project-files/${picture}`, `images/${name}`, `${PICTURES}/${name}`]) {
    const found = await openContainedForRead(directory, place).catch(() => undefined);
    if (found === undefined) continue;
    await using handle = found.handle;
    if (place !== `${PICTURES}/${name}`) {
      await writeContained(directory, `${PICTURES}/${name}`, handle.createReadStream({ autoClose: false }), {
        createParents: true,
      });
    }
    return;
  }
}

async function kindOf(directory: string, path: string): Promise<'folder' | 'file' | 'nothing' | 'other'> {
  const status = await lstat(join(directory, path)).catch(() => undefined);
  if (status === undefined) return 'nothing';
  return status.isDirectory() ? 'folder' : status.isFile() ? 'file' : 'other';
}
