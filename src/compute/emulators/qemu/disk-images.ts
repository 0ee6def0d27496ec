// Creates and extends disk images with qemu-img. A new image is created in its own directory and moved in place when
// complete, with all its files (some formats have several).
import { link, readdir, rm, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Failure, forbidden, invalid, messageOf, systemCode } from '../../../failures.ts';
import { createTemporaryDirectory, fileFailure, isTemporaryName } from '../../../host/files/atomic-file.ts';
import { openContainedForRead } from '../../../host/files/contained-files.ts';
import { makeDirectory } from '../../../host/files/directories.ts';
import { exists } from '../../../host/files/exists.ts';
import { runProgram } from '../../../host/processes/run-program.ts';
import { SIDECAR } from '../../images/checksums.ts';
import { linkDiskFiles } from '../../images/disk-files.ts';
import { readDiskHeader } from '../../images/disk-header.ts';
import { findDiskTool } from './programs.ts';
import { refusal } from './refusal.ts';
import type { DiskImageCreate, DiskImageUpdate } from './schema.ts';

export interface DiskImagesOptions {
  /** Folder of images with relative paths. */
  folder: string;
  /** Local mode: images may lie anywhere on this host. */
  local: boolean;
  /** What clients call the path; `path` unless given. */
  member?: string;
}

export class DiskImages {
  readonly #options: DiskImagesOptions;

  constructor(options: DiskImagesOptions) {
    this.#options = options;
  }

  /** @throws Failure `conflict` if the file exists, or qemu-img fails; `forbidden` for a path elsewhere */
  async create(
    { qemu_img, path: given, format, size, ...options }: DiskImageCreate,
    signal: AbortSignal,
  ): Promise<void> {
    const path = this.#place(given);
    const folder = dirname(path);
    if (!isAbsolute(given)) await makeDirectory(folder, `images_path ${folder}`);
    const settings = Object.entries(options).map(([name, value]) => `${name}=${value}`);
    const extra = settings.length > 0 ? ['-o', settings.sort().join(',')] : [];
    try {
      if (await exists(path)) throw refusal(`${this.#member}: there is a file ${given} already.`);
      await using workshop = await createTemporaryDirectory(folder);
      const fresh = join(workshop.path, basename(path));
      await run(qemu_img, ['create', '-f', format, ...extra, fresh, `${size}M`], workshop.path, signal);
      await placeAll(workshop.path, folder);
    } catch (thrown) {
      throw fileFailure(thrown, `${this.#member}: ${given}`);
    }
  }

  /** @throws Failure `conflict` if the file is missing, or qemu-img fails; `forbidden` for a path elsewhere */
  async extend({ qemu_img, path: given, extend }: DiskImageUpdate, signal: AbortSignal): Promise<void> {
    const path = this.#place(given);
    const folder = dirname(path);
    const name = basename(path);
    try {
      const { handle } = await openContainedForRead(folder, name);
      await handle.close();
      if (extend === undefined) return;
      // No other user can change files in there: qemu-img opens the checked files.
      await using workshop = await createTemporaryDirectory(folder);
      await linkDiskFiles(folder, name, workshop.path);
      await run(qemu_img, ['resize', join(workshop.path, name), `+${extend}M`], workshop.path, signal);
    } catch (thrown) {
      throw this.#explained(thrown, given);
    }
  }

  /** Deletes an image and its parts, not its backing files. @throws Failure `conflict` if it is missing */
  async delete(given: string): Promise<void> {
    const path = this.#place(given);
    const folder = dirname(path);
    try {
      const { handle } = await openContainedForRead(folder, basename(path));
      await using file = handle;
      const { files } = await readDiskHeader(file, given);
      const parts = files.filter(({ role, name }) => role === 'extent' && name === basename(name));
      await unlink(path);
      for (const { name } of parts) await rm(join(folder, name), { force: true });
    } catch (thrown) {
      throw this.#explained(thrown, given);
    }
  }

  #explained(thrown: unknown, given: string): unknown {
    if (!(thrown instanceof Failure) || thrown.exception !== undefined) return thrown;
    if (thrown.code === 'not-found') return refusal(`${this.#member}: there is no disk image ${given}.`, thrown);
    return new Failure(thrown.code, `${this.#member}: ${thrown.message}`, { exception: 'QemuError', cause: thrown });
  }

  get #member(): string {
    return this.#options.member ?? 'path';
  }

  #place(path: string): string {
    const name = basename(path);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: some formats write the name into a text of several lines
    if (name === '.' || name === '..' || /[\x00-\x1f\x7f"]/.test(name)) {
      throw invalid(`${this.#member}: ${JSON.stringify(path)} does not end with the name of an image.`);
    }
    if (isTemporaryName(name) || name.endsWith(SIDECAR)) {
      throw forbidden(`${this.#member}: names like ${name} are kept for files of this server; choose another.`);
    }
    if (isAbsolute(path)) {
      if (this.#options.local) return path;
      throw forbidden(`${this.#member}: ${path} is absolute, which only local mode allows; give the image's name.`);
    }
    return join(this.#options.folder, name);
  }
}

/** @param folder working directory; its path means nothing to a client, and is removed from qemu-img's messages */
async function run(wanted: string, args: string[], folder: string, signal: AbortSignal): Promise<void> {
  const tool = await findDiskTool(wanted);
  if (tool === undefined) {
    const message = `qemu_img: ${wanted} is not one of the programs that GET /v2/compute/qemu/img-binaries lists (Debian: apt install qemu-utils).`;
    throw refusal(message);
  }
  const { code, errors } = await runProgram(tool, args, { signal }).catch((thrown: unknown) => {
    throw refusal(`qemu_img: ${tool} ${messageOf(thrown)}.`, thrown);
  });
  if (code === 0) return;
  const words = errors.replaceAll(`${folder}/`, '').trim() || `it ended with code ${code}`;
  throw refusal(`${tool} ${args[0]}: ${words}`);
}

/** Moves all files of a directory to another one, or none of them. */
async function placeAll(from: string, to: string): Promise<void> {
  await using undo = new AsyncDisposableStack();
  for (const name of await readdir(from)) {
    await link(join(from, name), join(to, name)).catch((thrown: unknown) => {
      if (systemCode(thrown) !== 'EEXIST') throw thrown;
      throw refusal(`path: there is a file ${name} already.`, thrown);
    });
    undo.defer(() => unlink(join(to, name)));
  }
  undo.move();
}
