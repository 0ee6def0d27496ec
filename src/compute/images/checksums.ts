// Checksums of images: computed once per content, cached by path, size and time, and stored next to the image as
// `<image>.md5sum`, for the next run of this server and for other programs.
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, Failure, messageOf } from '../../failures.ts';
import type { AtomicFile, AtomicFileData } from '../../host/files/atomic-file.ts';
import { md5Of, RunningChecksum } from '../../host/files/checksum.ts';
import { openContainedForRead, removeContained, writeContained } from '../../host/files/contained-files.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';

/** Suffix of a checksum's file. */
export const SIDECAR = '.md5sum';
const MD5 = /^[0-9a-f]{32}$/i;
/** Most images in the cache. Checksums of older entries are read from their files again. */
const MOST_KNOWN = 10_000;

interface Known {
  /** Changes with the content. */
  stamp: string;
  md5sum: string;
}

export class ImageChecksums {
  readonly #known = new Map<string, Known>();
  /** One at a time per image, so that a checksum is never stored with another content. */
  readonly #lock = new KeyedLock();

  /** The checksum of an image below `root` that is open as `handle`. */
  async of(root: string, path: string, handle: FileHandle): Promise<string> {
    const place = join(root, path);
    return this.#lock.run(place, async () => {
      const stamp = stampOf(await handle.stat());
      const known = this.#known.get(place);
      if (known?.stamp === stamp) return known.md5sum;
      const kept = await this.#kept(root, path, handle);
      const md5sum = kept ?? (await md5Of(handle.fd));
      // The image may have been written or replaced meanwhile.
      if ((await stampAt(root, path)) !== stamp) return md5sum;
      this.#remember(place, { stamp, md5sum });
      if (kept === undefined) await keep(root, path, md5sum);
      return md5sum;
    });
  }

  /**
   * Writes an image and moves it to its place together with its checksum, which is computed while the data arrives.
   * @throws Failure `conflict` if the checksum is not the expected one; nothing is put in place then
   */
  async store(
    { root, path, md5sum: expected }: { root: string; path: string; md5sum: string | undefined },
    file: AtomicFile,
    data: AtomicFileData,
  ): Promise<void> {
    using checksum = new RunningChecksum(file.descriptor);
    await file.write(data, (written) => checksum.advance(written));
    const [md5sum] = await Promise.all([checksum.finish(), file.sync()]);
    if (expected !== undefined && md5sum !== expected) {
      throw conflict(`md5sum: what came has the MD5 ${md5sum}, not ${expected}; nothing is kept of it, send it again.`);
    }
    const place = join(root, path);
    await this.#lock.run(place, async () => {
      await removeSidecar(root, path);
      await file.commit();
      await keep(root, path, md5sum);
      const stamp = await stampAt(root, path);
      if (stamp !== undefined) this.#remember(place, { stamp, md5sum });
    });
  }

  /** Call this after the image was removed. */
  async forget(root: string, path: string): Promise<void> {
    const place = join(root, path);
    await this.#lock.run(place, async () => {
      this.#known.delete(place);
      await removeSidecar(root, path);
    });
  }

  /** The stored checksum, unless the image is newer. */
  async #kept(root: string, path: string, image: FileHandle): Promise<string | undefined> {
    try {
      const { handle, stat } = await openContainedForRead(root, path + SIDECAR);
      await using file = handle;
      if (stat.size !== 32 || stat.mtimeMs < (await image.stat()).mtimeMs) return undefined;
      const text = await file.readFile('latin1');
      return MD5.test(text) ? text.toLowerCase() : undefined;
    } catch {
      return undefined;
    }
  }

  #remember(place: string, known: Known): void {
    this.#known.delete(place);
    this.#known.set(place, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

async function removeSidecar(root: string, path: string): Promise<void> {
  await removeContained(root, path + SIDECAR).catch((thrown: unknown) => {
    if (!(thrown instanceof Failure && thrown.code === 'not-found')) throw thrown;
  });
}

function stampOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`;
}

async function stampAt(root: string, path: string): Promise<string | undefined> {
  try {
    const { handle, stat } = await openContainedForRead(root, path);
    await handle.close();
    return stampOf(stat);
  } catch {
    return undefined;
  }
}

/** Stores the checksum next to the image, if possible: a folder of images may be read-only. */
async function keep(root: string, path: string, md5sum: string): Promise<void> {
  try {
    await writeContained(root, path + SIDECAR, md5sum, { createParents: false });
  } catch (thrown) {
    log.debug('a checksum is not kept', { image: join(root, path), reason: messageOf(thrown) });
  }
}
