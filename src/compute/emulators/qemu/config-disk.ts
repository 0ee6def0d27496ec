// The configuration disk of a machine: a small FAT disk, created from config.zip before a start and packed into it
// after the stop (facts of release 2.2.57). mtools (Debian: mtools) write and read its file system, because npm has no
// maintained library for FAT.
import { createReadStream } from 'node:fs';
import { copyFile, lstat, mkdir, open, readdir, rename, truncate, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../failures.ts';
import { createTemporaryDirectory, writeFileAtomically } from '../../../host/files/atomic-file.ts';
import { openContainedForRead } from '../../../host/files/contained-files.ts';
import { childEnvironment } from '../../../host/processes/child-processes.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { type ProgramRun, runProgram } from '../../../host/processes/run-program.ts';
import { DEFLATED } from '../../../store/archive/compressors.ts';
import { nameProblem } from '../../../store/archive/names.ts';
import { ArchiveReader } from '../../../store/archive/reader.ts';
import { packArchive } from '../../../store/archive/writer.ts';

const DISK = 'config.img';
const ARCHIVE = 'config.zip';
const TOOL_MS = 30_000;

const SECTOR_BYTES = 512;
/** The default disk, if the images contain no `config.img`: 1 MiB with one active partition, in sectors. */
const SECTORS = 2048;
const FIRST_SECTOR = 8;
/** Offset of the partition entry in the first sector. */
const PARTITION = 446;
const SIGNATURE = 510;
const ACTIVE = 0x80;
/** Partition types of the FAT variants. */
const FAT_TYPES = new Set([1, 4, 6, 11, 12, 14]);

/** Limit of unpacked data that a machine may store; the disk is for texts. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_FILES = 1000;

export interface ConfigDiskOptions {
  /** The node's directory. */
  directory: string;
  /** Receives failures: a machine starts and stops without its configuration, too. */
  warn(message: string): void;
}

/**
 * Prepares the disk for a start; undefined, with a warning, if that fails.
 * @param images folder of images, which may contain a `config.img` to start from
 * @param hdd image of the fourth drive: a `.zip` becomes the configuration of a node without one
 */
export async function prepareConfigDisk(
  images: string,
  hdd: string,
  { directory, warn }: ConfigDiskOptions,
): Promise<string | undefined> {
  const [path, archive] = [join(directory, DISK), join(directory, ARCHIVE)];
  try {
    const [written, packed] = [await changeOf(path), await changeOf(archive)];
    if (hdd.endsWith('.zip') && written === undefined && packed === undefined)
      await writeFileAtomically(archive, createReadStream(hdd));
    // The last end of the machine was not packed: only the disk has what the guest saved.
    if (written !== undefined && written > (packed ?? 0n)) return path;
    await makeDisk(directory, images);
    return path;
  } catch (error) {
    warn(`create_config_disk: the machine has no configuration disk: ${messageOf(error)}`);
    return undefined;
  }
}

/** Packs the disk's files into `config.zip`, if there is a disk. */
export async function packConfigDisk({ directory, warn }: ConfigDiskOptions): Promise<void> {
  const disk = join(directory, DISK);
  try {
    if (!(await isFile(disk))) return;
    const volume = await volumeOf(disk);
    await using workshop = await createTemporaryDirectory(directory);
    const files = await filesOn(volume);
    let left = MOST_BYTES;
    for (const [number, file] of files.entries()) {
      // Each under our own name: the guest chose those on the disk.
      const copy = join(workshop.path, `${number}`);
      // mtools takes it for a pattern; of its special characters FAT names can have only these.
      const pattern = file.replaceAll('[', '[[]');
      await mtool('mcopy', ['-m', '-n', '-i', volume, '--', `::/${pattern}`, copy]);
      left -= (await lstat(copy)).size;
      if (left < 0) throw new Error(`it has more than ${MOST_BYTES} bytes`);
    }
    const content = packArchive(DEFLATED, async (archive) => {
      for (const [number, file] of files.entries()) {
        const handle = await open(join(workshop.path, `${number}`), 'r');
        await archive.addOpenFile(file, { handle, stat: await handle.stat() });
      }
    });
    await writeFileAtomically(join(directory, ARCHIVE), content);
  } catch (error) {
    warn(`create_config_disk: ${ARCHIVE} is as it was before: ${messageOf(error)}`);
  }
}

async function makeDisk(directory: string, images: string): Promise<void> {
  await using workshop = await createTemporaryDirectory(directory);
  const fresh = join(workshop.path, DISK);
  const given = join(images, DISK);
  if (await isFile(given)) await copyFile(given, fresh);
  else await makeEmpty(fresh);
  const files = join(workshop.path, 'files');
  await mkdir(files);
  await unpack(directory, files);
  const names = await readdir(files);
  if (names.length > 0) {
    await mtool('mcopy', [
      '-s',
      '-m',
      '-o',
      '-i',
      await volumeOf(fresh),
      '--',
      ...names.map((name) => join(files, name)),
      '::/',
    ]);
  }
  await using disk = await open(fresh, 'r+');
  await disk.sync();
  await rename(fresh, join(directory, DISK));
}

/** A partition table with one partition, and an empty FAT in it. */
async function makeEmpty(path: string): Promise<void> {
  const first = Buffer.alloc(SECTOR_BYTES);
  first.writeUInt8(ACTIVE, PARTITION);
  first.writeUInt8(1, PARTITION + 4);
  first.writeUInt32LE(FIRST_SECTOR, PARTITION + 8);
  first.writeUInt32LE(SECTORS - FIRST_SECTOR, PARTITION + 12);
  first.writeUInt16LE(0xaa55, SIGNATURE);
  await writeFileAtomically(path, first);
  await truncate(path, SECTORS * SECTOR_BYTES);
  const size = ['-T', `${SECTORS - FIRST_SECTOR}`, '-h', '16', '-s', '63', '-H', `${FIRST_SECTOR}`];
  await mtool('mformat', [...size, '-c', '1', '-r', '32', '-i', await volumeOf(path), '::']);
}

/** The files of `config.zip`, if there is one. */
async function unpack(directory: string, to: string): Promise<void> {
  if (!(await isFile(join(directory, ARCHIVE)))) return;
  const { handle } = await openContainedForRead(directory, ARCHIVE);
  await using _ = handle;
  const archive = await ArchiveReader.open(handle);
  if (archive.size > MOST_BYTES) throw new Error(`${ARCHIVE} has more than ${MOST_BYTES} bytes`);
  for (const entry of archive.entries.values()) {
    if (entry.kind !== 'file') continue;
    const path = join(to, entry.name);
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomically(path, archive.content(entry));
    await utimes(path, entry.modified, entry.modified);
  }
}

/** Paths below the root of a disk, without names that an archive cannot have. */
async function filesOn(volume: string): Promise<string[]> {
  const { output } = await mtool('mdir', ['-/', '-b', '-i', volume, '::/']);
  const files = output
    .split(/\r?\n/)
    .filter((line) => line.startsWith('::/') && !line.endsWith('/'))
    .map((line) => line.slice('::/'.length))
    .filter((name) => nameProblem(name) === undefined);
  if (files.length > MOST_FILES) throw new Error(`it has more than ${MOST_FILES} files`);
  return files;
}

/** mtools' name of the first partition of a disk. */
async function volumeOf(path: string): Promise<string> {
  await using handle = await open(path, 'r');
  const { buffer } = await handle.read(Buffer.alloc(SECTOR_BYTES), 0, SECTOR_BYTES, 0);
  const type = buffer.readUInt8(PARTITION + 4);
  if (!FAT_TYPES.has(type)) throw new Error(`${DISK} has no partition of type FAT, but one of type ${type}`);
  return `${path}@@${buffer.readUInt32LE(PARTITION + 8) * SECTOR_BYTES}`;
}

async function mtool(name: string, words: readonly string[]): Promise<ProgramRun> {
  const path = await findProgram(name);
  if (path === undefined) throw new Error(`there is no ${name} on this host (Debian: apt install mtools)`);
  const environment = { ...childEnvironment(), LC_ALL: 'C.UTF-8', MTOOLS_SKIP_CHECK: '1' };
  const run = await runProgram(path, words, { environment, limit: TOOL_MS });
  if (run.code === 0) return run;
  throw new Error(`${name}: ${run.errors.trim().split('\n').at(-1) || `it ended with code ${run.code}`}`);
}

async function isFile(path: string): Promise<boolean> {
  return (await changeOf(path)) !== undefined;
}

/** When the content of a file has changed (ns). */
async function changeOf(path: string): Promise<bigint | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found?.isFile() ? found.mtimeNs : undefined;
}
