// The files of a disk image: itself, its backing files, and its parts. All are checked before a tool opens any of them.
import { link, lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, Failure } from '../../failures.ts';
import { fileFailure } from '../../host/files/atomic-file.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { at } from '../../host/files/contained-place.ts';
import type { HeldNames } from '../../host/files/held-names.ts';
import type { OpenFile } from '../../host/files/regular-file.ts';
import { type DiskHeader, type NamedFile, readDiskHeader } from './disk-header.ts';

/** Limit of chained images. */
const MOST_FILES = 64;
/** Formats that a backing file may be declared as, besides the one in its own header: they name no other files. */
const PLAIN_FORMATS: readonly string[] = ['raw', 'vdi', 'vpc', 'vhdx', 'parallels'];

/**
 * Checks the image `name` in `folder` and every file that its header refers to, and links them under the same names in
 * the directory `into`, where no other user can replace them while a tool works on them. The links are to the checked files,
 * so writes go to the images.
 * @throws Failure `conflict` for a header that names anything but plain names of images; as `openContainedForRead`
 */
export async function linkDiskFiles(folder: string, name: string, into: string): Promise<void> {
  await judgeAll(name, (file, of) => linkJudged(folder, file, of, into));
}

/** The same check. The files stay in their places, and keep their names until `held` ends. @throws as `linkDiskFiles` */
export async function holdDiskFiles(folder: string, name: string, held: HeldNames): Promise<void> {
  await judgeAll(name, async (file, of) => {
    const path = join(folder, file.name);
    await held.hold(path);
    if ((await lstat(path).catch(() => undefined))?.isSymbolicLink())
      throw conflict(`${of}: its ${file.role} ${file.name} is a link; put the image itself there.`);
    const { handle } = await openPart(folder, file, of);
    await using opened = handle;
    return await readDiskHeader(opened, file.name);
  });
}

/** @param headerOf reads the header of a file after the check of its name */
async function judgeAll(name: string, headerOf: (file: NamedFile, of: string) => Promise<DiskHeader>): Promise<void> {
  const known = new Map<string, DiskHeader>();
  const pending: { file: NamedFile; of: string }[] = [{ file: { name, role: 'extent' }, of: name }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { file, of } = next;
    let header = known.get(file.name);
    if (header === undefined) {
      if (file.name !== name) mustBePlain(file, of);
      if (known.size === MOST_FILES) throw conflict(`${name}: it consists of more than ${MOST_FILES} files.`);
      header = await headerOf(file, of);
      known.set(file.name, header);
      pending.push(...header.files.map((named) => ({ file: named, of: file.name })));
    }
    const { format } = file;
    if (format !== undefined && format !== header.format && !PLAIN_FORMATS.includes(format)) {
      throw conflict(
        `${of}: its backing file ${file.name} is not in the format ${JSON.stringify(format)} that it names.`,
      );
    }
  }
}

function mustBePlain({ name, role }: NamedFile, of: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no name of an image has
  if (!/^\.|[/\\:\x00-\x1f\x7f\ufffd]/.test(name) && Buffer.byteLength(name) <= 255) return;
  const shown = JSON.stringify(name.slice(0, 100));
  throw conflict(
    `${of}: its ${role} ${shown} is not the plain name of an image in the same folder; upload an image that stands alone.`,
  );
}

async function openPart(folder: string, { name, role }: NamedFile, of: string): Promise<OpenFile> {
  return await openContainedForRead(folder, name).catch((thrown: unknown) => {
    if (name === of || !(thrown instanceof Failure)) throw thrown;
    throw conflict(`${of}: its ${role} cannot be used: ${thrown.message}`, { cause: thrown });
  });
}

async function linkJudged(folder: string, file: NamedFile, of: string, into: string): Promise<DiskHeader> {
  const { name } = file;
  const { handle, stat } = await openPart(folder, file, of);
  await using opened = handle;
  const header = await readDiskHeader(opened, name);
  const fresh = join(into, name);
  try {
    // By the open file's path: its name may be a link.
    await link(await readlink(at(opened)), fresh);
    const linked = await lstat(fresh);
    if (linked.ino === stat.ino && linked.dev === stat.dev) return header;
  } catch (thrown) {
    throw fileFailure(thrown, name);
  }
  throw conflict(`${name}: it was replaced at this moment; try again.`);
}
