// The disks of a machine: its own copies on top of images, or the images themselves.
import { lstat, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DRIVES, type Drive } from '../../../api/kinds/qemu.ts';
import { Failure, messageOf } from '../../../failures.ts';
import type { HeldNames } from '../../../host/files/held-names.ts';
import { holdDiskFiles } from '../../images/disk-files.ts';
import { readDiskHeader } from '../../images/disk-header.ts';
import type { DiskTool } from './disk-tool.ts';
import { contentOf, type KnownDisks } from './known-disks.ts';
import { readQcow2 } from './qcow2.ts';
import { refusal } from './refusal.ts';
import type { Images } from './settings.ts';

/** Name of a machine's saved state in its disks. */
export const SAVED_STATE = 'GNS3_SAVED_STATE';

/**
 * Exit codes of `qemu-img check`: 1 could not check, 2 damaged, 3 leaked clusters, which only cost space; 63
 * unsupported.
 */
const CHECK = { unchecked: 1, damaged: 2, leaked: 3, unsupported: 63 } as const;

export interface Disk {
  readonly drive: Drive;
  /** Number of the drive: 0 to 3. */
  readonly index: number;
  /** The file that the machine writes to. */
  readonly path: string;
  /** `raw`, if the format must not be detected. */
  readonly format?: string;
}

export interface DiskOptions {
  tool: DiskTool;
  /** The node's directory. */
  directory: string;
  /** Uses its own copies; the images stay unchanged. */
  linked: boolean;
  known: KnownDisks;
  /** Keeps the checked files in their places until QEMU, or a tool, has opened them. */
  held: HeldNames;
  warn(message: string): void;
}

/** The path of the copy of a drive's image. */
export function copyOf(directory: string, drive: Drive): string {
  return join(directory, `${drive}_disk.qcow2`);
}

export function imageOf(images: Images, drive: Drive): string {
  return images[`${drive}_disk_image`].path;
}

/**
 * Prepares the disks for a start.
 * @throws Failure `conflict` (`QemuError`) with the image and the reason for an unusable image
 */
export async function prepareDisks(images: Images, drives: readonly Drive[], options: DiskOptions): Promise<Disk[]> {
  const disks: Disk[] = [];
  for (const drive of drives) {
    const image = imageOf(images, drive);
    if (image === '') continue;
    const path = options.linked ? await prepareCopy(drive, image, options) : await prepareImage(drive, image, options);
    disks.push({ drive, index: DRIVES.indexOf(drive), path });
  }
  return disks;
}

/** Grows a drive by so many MiB. */
export async function growDisk(images: Images, drive: Drive, mebibytes: number, options: DiskOptions): Promise<void> {
  const image = imageOf(images, drive);
  if (image === '') throw refusal(`${drive} has no disk image.`);
  const path = options.linked ? await prepareCopy(drive, image, options) : await prepareImage(drive, image, options);
  await options.tool.run([
    'resize',
    ...(mebibytes < 0 ? ['--shrink'] : []),
    path,
    `${mebibytes < 0 ? '' : '+'}${mebibytes}M`,
  ]);
}

async function prepareImage(drive: Drive, image: string, { tool, held, warn }: DiskOptions): Promise<string> {
  await judge(drive, image, held);
  await check(drive, image, tool, warn);
  return image;
}

/** Creates the copy, or rebases it on the image, which may have moved. */
export async function prepareCopy(drive: Drive, image: string, options: DiskOptions): Promise<string> {
  const { tool, directory, known, held } = options;
  const format = await formatOf(drive, image, options);
  const copy = copyOf(directory, drive);
  await held.hold(copy);
  const there = await lstat(copy).catch(() => undefined);
  if (there && !there.isFile())
    throw refusal(`${drive}: ${basename(copy)} in the node's directory is no regular file.`);
  if (there && (await known.isOn(copy, image))) return copy;
  if (there) await mustHoldItsData(drive, copy);
  if (there) await tool.run(['rebase', '-u', '-f', 'qcow2', '-b', image, '-F', format, copy]);
  else await tool.run(['create', '-q', '-f', 'qcow2', '-b', image, '-F', format, copy]);
  await known.noteCopy(copy, image);
  return copy;
}

/**
 * Clients can replace copies: a file may name others, which QEMU would read. Hold its name before.
 * @param image the only file that it may name; any before it is put on its image
 */
export async function mustHoldItsData(drive: Drive, copy: string, image?: string): Promise<void> {
  await using handle = await open(copy, 'r');
  const { format, files } = await readDiskHeader(handle, basename(copy));
  if (format !== 'qcow2') throw refusal(`${drive}: ${basename(copy)} in the node's directory is no qcow2 disk.`);
  if (image !== undefined && files.some(({ name }) => name !== image))
    throw refusal(`${drive}: ${basename(copy)} is on another image than the node's until the next start.`);
}

/** The format of a copy's base image, which is checked if it is new or changed. */
async function formatOf(drive: Drive, image: string, { tool, known, held, warn }: DiskOptions): Promise<string> {
  await judge(drive, image, held);
  const before = await contentOf(image);
  const noted = await known.formatOf(image);
  if (noted !== undefined) return noted;
  const isWhole = await check(drive, image, tool, warn);
  const { format } = await tool.describe(image);
  if (isWhole) known.noteImage(image, before, format);
  return format;
}

/** Checks that this is an image, which refers only to images next to it, as do these. They keep their names until `held` ends. */
export async function judge(drive: string, image: string, held: HeldNames): Promise<void> {
  const found = await lstat(image).catch(() => undefined);
  const name = basename(image);
  if (!found) throw refusal(`${drive}: the image ${name} is missing; upload it again.`);
  if (!found.isFile()) throw refusal(`${drive}: the image ${name} is no regular file.`);
  if (found.size === 0) throw refusal(`${drive}: the image ${name} is empty; upload it again.`);
  await holdDiskFiles(dirname(image), name, held).catch((thrown: unknown) => {
    throw thrown instanceof Failure ? refusal(`${drive}: ${thrown.message}`, thrown) : thrown;
  });
}

/**
 * Repairs leaked clusters. Only warns of damage, as the machine may still work. Returns whether nothing of the image is
 * damaged.
 */
async function check(drive: Drive, image: string, tool: DiskTool, warn: (message: string) => void): Promise<boolean> {
  const answers = Object.values(CHECK);
  const name = basename(image);
  const { code, errors } = await tool.run(['check', '-q', image], [0, ...answers]);
  if (code === CHECK.leaked) {
    const repair = await tool.run(['check', '-q', '-r', 'leaks', image], [0, ...answers]);
    warn(
      repair.code === 0
        ? `${drive}: the image ${name} had leaked clusters, which were freed; nothing was lost.`
        : `${drive}: the image ${name} has leaked clusters, which only cost space. They cannot be freed while another machine uses it: run qemu-img check -r leaks when none does.`,
    );
  } else if (code === CHECK.damaged) {
    warn(
      `${drive}: the image ${name} is damaged (qemu-img check): ${errors.trim().split('\n')[0] ?? ''}. It was left as it is.`,
    );
  } else if (code === CHECK.unchecked) {
    throw refusal(`${drive}: the image ${name} cannot be read: ${errors.trim().split('\n')[0] ?? ''}`);
  }
  return code === 0 || code === CHECK.leaked || code === CHECK.unsupported;
}

/** The drives with a saved state of this name. */
export async function savedIn(disks: readonly Disk[], tool: DiskTool, name: string): Promise<Disk[]> {
  const found: Disk[] = [];
  for (const disk of disks) {
    const header = await readQcow2(disk.path);
    if (!header || header.snapshots === 0) continue;
    const { snapshots } = await tool.describe(disk.path).catch((error: unknown) => {
      throw refusal(`${disk.drive}: ${messageOf(error)}`);
    });
    if (snapshots.includes(name)) found.push(disk);
  }
  return found;
}

export async function forgetState(disks: readonly Disk[], tool: DiskTool, name: string): Promise<void> {
  for (const { path } of await savedIn(disks, tool, name)) await tool.run(['snapshot', '-d', name, path]);
}
