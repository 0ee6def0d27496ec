// Copies of disks as chunks: a chunk is a piece of a disk as the guest sees it, stored once under the checksum of its content.
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DisksManifest, ZEROS } from '../../../api/disk-checkpoint.ts';
import type { Drive } from '../../../api/kinds/qemu.ts';
import { conflict } from '../../../failures.ts';
import { CHUNK_BYTES, CheckpointParts, DamagedCopy, TooMuch } from '../../nodes/checkpoint-parts.ts';
import type { DiskTool, Extent } from './disk-tool.ts';

/** Chunks that are written by one run of qemu-io. */
const AT_ONCE = 64;
/** Places of chunks, zeros included: 64 GiB. A guest writes zeros over a disk of any size in no time. */
const MOST_PLACES = 2 ** 18;

export interface DiskChanges {
  /** Whether it is all that the disks have beyond their images. */
  whole: boolean;
  /** `path`: a qcow2 file with clusters of the size of a chunk, which has what changed. */
  disks: { drive: Drive; path: string; size: number }[];
}

export class DiskChunks extends CheckpointParts<DisksManifest> {
  constructor(directory: string) {
    super(directory, DisksManifest);
  }

  /** @throws TooMuch, the reason of `signal`; the files of before stay, but count as unfinished */
  async add(
    before: DisksManifest | undefined,
    changes: DiskChanges,
    { tool, signal, of }: { tool: DiskTool; signal: AbortSignal; of?: string },
  ): Promise<void> {
    const disks: DisksManifest['disks'] = changes.whole ? {} : { ...before?.disks };
    for (const { drive, path, size } of changes.disks) {
      const chunks: Record<string, string> = { ...disks[drive]?.chunks };
      let places = Object.keys(chunks).length;
      for await (const [index, content] of chunksOf(await tool.map(path, signal), path)) {
        signal.throwIfAborted();
        if (!(index in chunks) && ++places > MOST_PLACES)
          throw new TooMuch(`${drive} has changed at more than ${MOST_PLACES} places`);
        chunks[index] = content === undefined ? ZEROS : await this.keep(content);
      }
      disks[drive] = { size, chunks };
    }
    await this.finish({ disks, ...(of !== undefined && { of }) }, 'its disks have');
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
          await writeFile(file, await this.content(name), { mode: 0o600 });
          commands.push(`write -q -s ${file} ${offset} ${length}`);
        }
      }
      await tool.write(disk, commands);
    }
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
      throw conflict('qemu-img is too old: from 6.1 on it says which parts a disk has');
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
