// Places images from an archive in the images path, under their type. No image is ever overwritten: disks of other labs may be based on it.
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, link, lstat, mkdir, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { IMAGE_KINDS } from '../../api/kinds/kinds.ts';
import { systemCode } from '../../failures.ts';
import { createTemporaryDirectory, fileFailure } from '../../host/files/atomic-file.ts';
import { namesIn } from '../../host/files/directories.ts';

/**
 * Folders of an archive, and of the images path. Releases name those of images of other computes by the type of the
 * nodes. Images of this host come last: nodes follow these if both have a name.
 */
const FOLDERS: [archived: string, folder: string][] = [
  ...IMAGE_KINDS.map(({ type, folder }): [string, string] => [type, folder]),
  ...IMAGE_KINDS.map(({ folder }): [string, string] => [folder, folder]),
];
const PLACES = new RegExp(`^images/(${FOLDERS.map(([archived]) => archived).join('|')})/([^/]+)$`);
/** Computes trust a checksum file beside an image, so an archive must not bring one. */
const CHECKSUM = '.md5sum';
/** Emulators execute some images. */
const MODE = 0o700;

/** Images of imports that may still be undone. */
const placing = new Set<string>();

export interface ArchivedImage {
  /** As in the archive. */
  folder: string;
  file: string;
}

/** The image in an archive's entry; undefined for other entries, false for one to skip. */
export function archivedImage(name: string): ArchivedImage | false | undefined {
  const [, folder, file] = PLACES.exec(name) ?? [];
  if (folder === undefined || file === undefined) return undefined;
  return file.endsWith(CHECKSUM) || file.startsWith('.') ? false : { folder, file };
}

/**
 * Places the images of `from` (`<folder of the archive>/<file>`) in the images path. Disposing of `undo` removes them.
 * @returns new file names by `<folder>/<file>`, where another image has the name
 */
export async function placeImages(
  from: string,
  images: string,
  undo: AsyncDisposableStack,
): Promise<Map<string, string>> {
  const renamed = new Map<string, string>();
  for (const [archived, folder] of FOLDERS) {
    for (const file of await namesIn(join(from, archived))) {
      const name = await placeImage(join(from, archived, file), join(images, folder), file, undo);
      if (name === file) renamed.delete(`${folder}/${file}`);
      else renamed.set(`${folder}/${file}`, name);
    }
  }
  return renamed;
}

/** Names of the images of `from` that this host does not have under the same name with the same content. */
export async function unknownImages(from: string, images: string): Promise<string[]> {
  const unknown: string[] = [];
  for (const [archived, folder] of FOLDERS) {
    for (const file of await namesIn(join(from, archived))) {
      if (!(await isSame(join(from, archived, file), join(images, folder, file)))) unknown.push(file);
    }
  }
  return unknown;
}

async function placeImage(source: string, folder: string, file: string, undo: AsyncDisposableStack): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    await chmod(source, MODE);
    const { name, ext } = posix.parse(file);
    for (let number = 0, candidate = file; ; number += 1, candidate = `${name}-${number}${ext}`) {
      const target = join(folder, candidate);
      if (await putNew(source, target)) {
        placing.add(target);
        undo.defer(async () => {
          if (placing.delete(target)) await rm(target, { force: true });
        });
        return candidate;
      }
      if (await isSame(source, target)) {
        // It is another lab's now, too: the import that brought it does not take it away again.
        placing.delete(target);
        return candidate;
      }
    }
  } catch (error) {
    throw fileFailure(error, file);
  }
}

/** Creates a file as a whole; false if one exists. */
async function putNew(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    if (!['EXDEV', 'EPERM', 'EMLINK'].includes(systemCode(error) ?? '')) throw error;
  }
  // On another file system a copy takes time: it gets its name when it is complete.
  await using workshop = await createTemporaryDirectory(dirname(target));
  const part = join(workshop.path, '.image');
  try {
    await copyFile(source, part, constants.COPYFILE_FICLONE);
    await link(part, target);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([lstat(one), lstat(other).catch(() => undefined)]);
  if (!b?.isFile() || a.size !== b.size) return false;
  const [first, second] = await Promise.all([checksum(one), checksum(other)]);
  return first === second;
}

async function checksum(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
