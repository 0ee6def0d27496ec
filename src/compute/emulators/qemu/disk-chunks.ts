// Copies of disks as chunks: a chunk is a piece of a disk as the guest sees it, stored once under the checksum of its content.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import * as v from 'valibot';
import { checksumsOf, DISK_MANIFEST, LARGEST_DISKS_BYTES, MOST_CHUNKS, ZEROS } from '../../../api/disk-checkpoint.ts';
import { DRIVES, type Drive } from '../../../api/kinds/qemu.ts';
import { Failure, systemCode } from '../../../failures.ts';
import { fileFailure, writeFileAtomically } from '../../../host/files/atomic-file.ts';
import type { DiskTool, Extent } from './disk-tool.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

export const CHUNK_BYTES = 256 * 1024;
/** There while changes are being taken: without them, a later copy of only what changed would be wrong. */
const UNFINISHED = 'unfinished';
/** Chunks that are written by one run of qemu-io. */
const AT_ONCE = 64;
/** Places of chunks, zeros included: 64 GiB. A guest writes zeros over a disk of any size in no time. */
const MOST_PLACES = 2 ** 18;
/** Bytes of a file of the copy: a manifest with all places, and more than any chunk. */
const LARGEST_FILE_BYTES = 32 * 2 ** 20;

const Checksum = v.union([v.literal(ZEROS), v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))]);
const DiskOf = v.object({
  size: v.number(),
  /** By number: the checksum. */
  chunks: v.record(v.pipe(v.string(), v.regex(/^\d{1,9}$/)), Checksum),
});
const Manifest = v.object({
  disks: v.partial(
    v.object(Object.fromEntries(DRIVES.map((drive) => [drive, DiskOf])) as Record<Drive, typeof DiskOf>),
  ),
  /** The disks of a machine that is off which the copy was made of. */
  of: v.optional(v.string()),
});
export type DiskManifest = v.InferOutput<typeof Manifest>;

export interface DiskChanges {
  /** Whether it is all that the disks have beyond their images. */
  whole: boolean;
  /** `path`: a qcow2 file with clusters of the size of a chunk, which has what changed. */
  disks: { drive: Drive; path: string; size: number }[];
}

/** Disks have more than is kept. */
export class TooMuch extends Failure {
  constructor(message: string) {
    super('out-of-space', message);
  }
}

/** A copy of which a part is missing or damaged. */
export class DamagedCopy extends Failure {
  constructor(message: string) {
    super('conflict', message, { exception: 'QemuError' });
  }
}

export class DiskChunks {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Undefined if there is none, or it was not finished. */
  async manifest(): Promise<DiskManifest | undefined> {
    if (await stat(join(this.directory, UNFINISHED)).catch(ignoreMissing)) return undefined;
    const text = await this.#read(DISK_MANIFEST);
    if (text === undefined) return undefined;
    const manifest = v.safeParse(Manifest, parsed(text.toString('utf8')));
    return manifest.success ? manifest.output : undefined;
  }

  /** Bytes that the disks took when they were last found to be too much. */
  async tooMuch(): Promise<number> {
    return Number(await readFile(join(this.directory, UNFINISHED), 'utf8').catch(ignoreMissing)) || Infinity;
  }

  async noteTooMuch(bytes: number): Promise<void> {
    await writeFile(join(this.directory, UNFINISHED), String(bytes));
  }

  /** Call before changes are taken; until `add` ends there is no manifest. */
  async begin(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await writeFile(join(this.directory, UNFINISHED), '', { mode: 0o600 });
  }

  /** After `begin`: the copy is what it was. */
  async unchanged(): Promise<void> {
    await rm(join(this.directory, UNFINISHED), { force: true });
  }

  /** @throws TooMuch, the reason of `signal`; the files of before stay, but count as unfinished */
  async add(
    before: DiskManifest | undefined,
    changes: DiskChanges,
    { tool, signal, of }: { tool: DiskTool; signal: AbortSignal; of?: string },
  ): Promise<void> {
    const disks: DiskManifest['disks'] = changes.whole ? {} : { ...before?.disks };
    for (const { drive, path, size } of changes.disks) {
      const chunks: Record<string, string> = { ...disks[drive]?.chunks };
      let places = Object.keys(chunks).length;
      for await (const [index, content] of chunksOf(await tool.map(path, signal), path)) {
        signal.throwIfAborted();
        if (!(index in chunks) && ++places > MOST_PLACES)
          throw new TooMuch(`${drive} has changed at more than ${MOST_PLACES} places`);
        chunks[index] = content === undefined ? ZEROS : await this.#keep(content);
      }
      disks[drive] = { size, chunks };
    }
    const kept = checksumsOf({ disks });
    let bytes = 0;
    for (const name of kept) bytes += (await stat(join(this.directory, name))).size;
    if (bytes > LARGEST_DISKS_BYTES || kept.size > MOST_CHUNKS) {
      const [found, most] = [bytes, LARGEST_DISKS_BYTES].map((size) => `${Math.ceil(size / 2 ** 20)} MiB`);
      throw new TooMuch(`its disks have changed by ${found} in ${kept.size} parts, more than ${most}`);
    }
    const manifest = { disks, ...(of !== undefined && { of }) } satisfies DiskManifest;
    await writeFileAtomically(join(this.directory, DISK_MANIFEST), JSON.stringify(manifest), { mode: 0o600 });
    for (const name of await readdir(this.directory))
      if (name !== DISK_MANIFEST && !kept.has(name)) await rm(join(this.directory, name), { force: true });
  }

  async #keep(content: Buffer): Promise<string> {
    const name = createHash('sha256').update(content).digest('hex');
    const path = join(this.directory, name);
    if (await stat(path).catch(ignoreMissing)) return name;
    const unfinished = join(this.directory, `${randomUUID()}.tmp`);
    await writeFile(unfinished, await compress(content), { mode: 0o600 }).catch((thrown: unknown) => {
      throw fileFailure(thrown, unfinished);
    });
    await rename(unfinished, path);
    return name;
  }

  /** Writes the chunks of a drive onto its new disk. @throws DamagedCopy, Failure `conflict` of qemu-io */
  async apply(drive: Drive, disk: string, tool: DiskTool, scratch: string): Promise<void> {
    const { size, chunks } = (await this.manifest())?.disks[drive] ?? { size: 0, chunks: {} };
    const all = Object.entries(chunks);
    for (let first = 0; first < all.length; first += AT_ONCE) {
      const commands: string[] = [];
      for (const [number, [index, name]] of all.slice(first, first + AT_ONCE).entries()) {
        const offset = Number(index) * CHUNK_BYTES;
        const length = Math.min(CHUNK_BYTES, size - offset);
        if (!(length > 0)) throw new DamagedCopy(`The copy of a disk has parts beyond its end.`);
        if (name === ZEROS) commands.push(`write -q -z ${offset} ${length}`);
        else {
          const file = join(scratch, String(number));
          await writeFile(file, await this.#content(name), { mode: 0o600 });
          commands.push(`write -q -s ${file} ${offset} ${length}`);
        }
      }
      await tool.write(disk, commands);
    }
  }

  async #content(name: string): Promise<Buffer> {
    const stored = await this.#read(name);
    const content = stored && (await decompress(stored, { maxOutputLength: CHUNK_BYTES }).catch(() => undefined));
    if (content && createHash('sha256').update(content).digest('hex') === name) return content;
    throw new DamagedCopy(`The copy of a disk has no intact part ${name}.`);
  }

  /** Undefined if it is missing, or too large: what came from another host may have any size. */
  async #read(name: string): Promise<Buffer | undefined> {
    const path = join(this.directory, name);
    const found = await stat(path).catch(ignoreMissing);
    return found && found.size <= LARGEST_FILE_BYTES ? await readFile(path) : undefined;
  }
}

/** What a file with changes has, by the number of the chunk; undefined for zeros. */
async function* chunksOf(
  extents: readonly Extent[],
  path: string,
): AsyncGenerator<[index: string, content: Buffer | undefined]> {
  await using file = await open(path);
  for (const { start, length, depth, present, zero, offset } of extents) {
    if (depth !== 0 || present === false) continue;
    if (zero && present === undefined)
      throw new Failure('conflict', 'qemu-img is too old: from 6.1 on it says which parts a disk has');
    for (let at = 0; at < length; at += CHUNK_BYTES) {
      const index = String((start + at) / CHUNK_BYTES);
      if (zero || offset === undefined) {
        yield [index, undefined];
        continue;
      }
      const content = Buffer.alloc(Math.min(CHUNK_BYTES, length - at));
      await file.read(content, 0, content.length, offset + at);
      yield [index, content.some((byte) => byte !== 0) ? content : undefined];
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}
