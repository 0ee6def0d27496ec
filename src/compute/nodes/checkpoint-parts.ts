// A copy of what a node has on its host, for another host: parts, each stored once under the checksum of its content, and a manifest that
// says where they belong.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import * as v from 'valibot';
import {
  type CheckpointManifest,
  checksumsOf,
  DISK_MANIFEST,
  LARGEST_DISKS_BYTES,
  MOST_CHUNKS,
} from '../../api/disk-checkpoint.ts';
import { Failure, ignoreMissing } from '../../failures.ts';
import { throwFileFailure, writeFileAtomically } from '../../host/files/atomic-file.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The most that a part has, not compressed. */
export const CHUNK_BYTES = 256 * 1024;
/** There while changes are being taken: without them, a later copy of only what changed would be wrong. */
const UNFINISHED = 'unfinished';
/** Bytes of a file of the copy: a manifest with all places, and more than any part. */
const LARGEST_FILE_BYTES = 32 * 2 ** 20;

/** A node has more than is kept. */
export class TooMuch extends Failure {
  constructor(message: string) {
    super('out-of-space', message);
  }
}

/** A copy of which a part is missing or damaged. */
export class DamagedCopy extends Failure {
  constructor(message: string) {
    super('conflict', message);
  }
}

export class CheckpointParts<M extends v.InferOutput<typeof CheckpointManifest>> {
  readonly directory: string;
  readonly #schema: v.GenericSchema<unknown, M>;

  constructor(directory: string, schema: v.GenericSchema<unknown, M>) {
    this.directory = directory;
    this.#schema = schema;
  }

  /** Undefined if there is none, or it was not finished. */
  async manifest(): Promise<M | undefined> {
    if (await stat(join(this.directory, UNFINISHED)).catch(ignoreMissing)) return undefined;
    const text = await this.#read(DISK_MANIFEST);
    if (text === undefined) return undefined;
    const manifest = v.safeParse(v.pipe(v.string(), v.parseJson(), this.#schema), text.toString('utf8'));
    return manifest.success ? manifest.output : undefined;
  }

  /** Bytes that the node had when they were last found to be too much. */
  async tooMuch(): Promise<number> {
    return Number(await readFile(join(this.directory, UNFINISHED), 'utf8').catch(ignoreMissing)) || Infinity;
  }

  /** Removes the former copy, too, which nothing brings up to date any more. */
  async noteTooMuch(bytes: number): Promise<void> {
    await writeFile(join(this.directory, UNFINISHED), String(bytes));
    await this.#removeAllBut([UNFINISHED]);
  }

  /** Call before changes are taken; until `add` ends there is no manifest. */
  async begin(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await writeFile(join(this.directory, UNFINISHED), '', { mode: 0o600 });
  }

  /** After `begin`: the copy is what it was. */
  async unchanged(manifest: M): Promise<void> {
    await this.#removeAllBut([DISK_MANIFEST, ...checksumsOf(manifest)]);
  }

  /**
   * The manifest of a copy that came with the node. A damaged one is removed with a warning.
   * @param what begins the warning: `the copy of its disks`
   */
  async arrived(what: string, warn: (message: string) => void): Promise<M | undefined> {
    const manifest = await this.manifest();
    if (manifest || !(await stat(this.directory).catch(ignoreMissing))) return manifest;
    warn(`${what} cannot be used: ${DISK_MANIFEST} is missing or damaged`);
    await this.discard();
    return undefined;
  }

  async discard(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  async #removeAllBut(kept: readonly string[]): Promise<void> {
    const names = new Set(kept);
    for (const name of await readdir(this.directory))
      if (!names.has(name)) await rm(join(this.directory, name), { force: true });
  }

  /** Replaces the manifest, and removes parts that are not in it. @param what begins the message: `its disks have` */
  protected async finish(manifest: M, what: string): Promise<void> {
    const kept = checksumsOf(manifest);
    let bytes = 0;
    for (const name of kept) bytes += (await stat(join(this.directory, name))).size;
    if (bytes > LARGEST_DISKS_BYTES || kept.size > MOST_CHUNKS) {
      const [found, most] = [bytes, LARGEST_DISKS_BYTES].map((size) => `${Math.ceil(size / 2 ** 20)} MiB`);
      throw new TooMuch(`${what} changed by ${found} in ${kept.size} parts, more than ${most}`);
    }
    await writeFileAtomically(join(this.directory, DISK_MANIFEST), JSON.stringify(manifest), { mode: 0o600 });
    await this.#removeAllBut([DISK_MANIFEST, ...kept]);
  }

  protected async keep(content: Buffer): Promise<string> {
    const name = createHash('sha256').update(content).digest('hex');
    const path = join(this.directory, name);
    if (await stat(path).catch(ignoreMissing)) return name;
    const unfinished = join(this.directory, `${randomUUID()}.tmp`);
    await writeFile(unfinished, await compress(content), { mode: 0o600 }).catch(throwFileFailure(unfinished));
    await rename(unfinished, path);
    return name;
  }

  /** @throws DamagedCopy */
  protected async content(name: string): Promise<Buffer> {
    const stored = await this.#read(name);
    const content = stored && (await decompress(stored, { maxOutputLength: CHUNK_BYTES }).catch(() => undefined));
    if (content && createHash('sha256').update(content).digest('hex') === name) return content;
    throw new DamagedCopy(`The copy has no intact part ${name}.`);
  }

  /** Undefined if it is missing, or too large: what came from another host may have any size. */
  async #read(name: string): Promise<Buffer | undefined> {
    const path = join(this.directory, name);
    const found = await stat(path).catch(ignoreMissing);
    return found && found.size <= LARGEST_FILE_BYTES ? await readFile(path) : undefined;
  }
}
