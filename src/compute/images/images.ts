// The images on this host: found in the configured folders, listed with checksums, stored atomically.
import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { HEAD_BYTES } from '../../api/kinds/image-heads.ts';
import { IMAGE_KINDS, type ImageKind } from '../../api/kinds/kinds.ts';
import type { Config } from '../../config/schema.ts';
import { Failure, forbidden, messageOf, notFound } from '../../failures.ts';
import { openContainedForRead, removeContained, type WriteOptions } from '../../host/files/contained-files.ts';
import { listContained } from '../../host/files/contained-tree.ts';
import { makeDirectory } from '../../host/files/directories.ts';
import { removeLeftovers } from '../../host/files/leftovers.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import { ImageChecksums, SIDECAR } from './checksums.ts';

export interface ImageEntry {
  filename: string;
  /** Relative to the kind's own folder, or absolute. */
  path: string;
  md5sum: string;
  /** Bytes. */
  filesize: number;
}

/** An image's path below one of the folders. */
export interface ImagePlace {
  root: string;
  /** Relative to `root`. */
  path: string;
}

/** Images read at the same time. */
const AT_ONCE = 4;
/** Emulators execute some images, and no other user needs to read them. */
const MODE = 0o700;

export class Images {
  readonly #imagesPath: string;
  readonly #additional: readonly string[];
  readonly #checksums = new ImageChecksums();

  constructor({ Server }: Config) {
    this.#imagesPath = Server.images_path;
    this.#additional = Server.additional_images_path;
  }

  /** Removes unfinished uploads of the previous run of the server. */
  async start(): Promise<void> {
    for (const kind of IMAGE_KINDS) {
      const folder = this.folder(kind);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      const below = entries
        .filter((entry) => entry.isDirectory())
        .map(({ parentPath, name }) => join(parentPath, name));
      for (const directory of entries.length === 0 ? [] : [folder, ...below]) {
        await removeLeftovers(directory).catch((thrown: unknown) => {
          log.warn('unfinished uploads stay', { directory, reason: messageOf(thrown) });
        });
      }
    }
  }

  folder(kind: ImageKind): string {
    return join(this.#imagesPath, kind.folder);
  }

  /** Images of a kind, sorted by name. If two have the same name, the first in the order of the folders is listed. */
  async list(kind: ImageKind, { unlisted = false } = {}): Promise<ImageEntry[]> {
    const accepts = (head: Uint8Array): boolean =>
      kind.accepts(head) || (unlisted && kind.usesUnlisted?.(head) === true);
    const places = new Map<string, ImagePlace>();
    for (const root of this.folders(kind)) {
      const flat = root === this.#imagesPath || root === this.folder(kind);
      for await (const { path } of filesBelow(root, flat ? () => false : undefined)) {
        const name = posix.basename(path);
        if (name.startsWith('.') || name.endsWith(SIDECAR) || places.has(name)) continue;
        places.set(name, { root, path });
      }
    }
    const found: ImageEntry[] = [];
    await eachOf([...places.values()], AT_ONCE, async (place) => {
      const entry = await this.#describe(kind, place, accepts).catch((thrown: unknown) => {
        log.warn('an image cannot be read', { image: join(place.root, place.path), reason: messageOf(thrown) });
        return undefined;
      });
      if (entry !== undefined) found.push(entry);
    });
    return found.sort((a, b) => (a.filename < b.filename ? -1 : 1));
  }

  /**
   * Finds the image of this name, at any depth of any folder; undefined if missing.
   * @throws Failure `forbidden` for a name that leads elsewhere
   */
  async find(kind: ImageKind, filename: string): Promise<ImagePlace | undefined> {
    const name = posix.normalize(filename);
    if (name.startsWith('.') || name.includes('/')) {
      throw forbidden(
        `filename: ${filename} is not the plain name of an image; leave out folders (they are searched) and leading dots.`,
      );
    }
    for (const root of this.folders(kind)) {
      const byDepth = new Map<number, string>();
      for await (const { path } of filesBelow(root)) {
        const parts = path.split('/');
        if (parts.at(-1) === name) byDepth.set(parts.length, path);
      }
      const path = byDepth.get(Math.min(...byDepth.keys()));
      if (path !== undefined) return { root, path };
    }
    return undefined;
  }

  /**
   * The image whose path ends with the given one, at any depth of any folder, or below `directory` as well; undefined
   * if missing.
   * @param path relative, normal, without leading dots
   */
  async search(kind: ImageKind, path: string, directory: string): Promise<ImagePlace | undefined> {
    for (const root of [...this.folders(kind), directory]) {
      for await (const found of filesBelow(root)) {
        if (found.path === path || found.path.endsWith(`/${path}`)) return { root, path: found.path };
      }
    }
    return undefined;
  }

  /** The checksum of an image, also stored next to it. @throws Failure as `openContainedForRead` */
  async checksum({ root, path }: ImagePlace): Promise<string> {
    const { handle } = await openContainedForRead(root, path);
    await using file = handle;
    return await this.#checksums.of(root, path, file);
  }

  /**
   * Place and write options of an uploaded image: it appears together with its checksum.
   * @param md5sum the expected checksum, if known
   */
  async incoming(kind: ImageKind, filename: string, md5sum?: string): Promise<ImagePlace & { options: WriteOptions }> {
    const root = this.folder(kind);
    const path = posix.normalize(filename);
    if (path.endsWith(SIDECAR)) {
      throw forbidden(`filename: names that end with ${SIDECAR} are kept for checksums; choose another.`);
    }
    await makeDirectory(root, `images_path ${root}`);
    return {
      root,
      path,
      options: {
        createParents: true,
        mode: MODE,
        fill: (file, data) => this.#checksums.store({ root, path, md5sum }, file, data),
      },
    };
  }

  /**
   * Removes the image of this name, with its checksum.
   * @throws Failure `not-found`, `forbidden` for an image in a configured folder that is not this server's own
   */
  async remove(kind: ImageKind, filename: string): Promise<void> {
    const place = await this.find(kind, filename);
    if (place === undefined) throw notFound(`filename: there is no ${kind.type} image ${filename}.`);
    const { root, path } = place;
    if (root !== this.folder(kind) && root !== this.#imagesPath) {
      throw forbidden(`filename: ${filename} is in ${root} (additional_images_path): delete it there.`);
    }
    await removeContained(root, path);
    await this.#checksums.forget(root, path);
  }

  /** The folders searched for images of a kind, in this order. */
  folders(kind: ImageKind): string[] {
    return [this.folder(kind), ...this.#additional, this.#imagesPath];
  }

  /** Undefined for a file that is not an image of this kind. */
  async #describe(
    kind: ImageKind,
    { root, path }: ImagePlace,
    accepts: ImageKind['accepts'],
  ): Promise<ImageEntry | undefined> {
    const { handle, stat } = await openContainedForRead(root, path);
    await using file = handle;
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (bytesRead < HEAD_BYTES || !accepts(buffer)) return undefined;
    return {
      filename: posix.basename(path),
      path: root === this.folder(kind) ? path : join(root, path),
      md5sum: await this.#checksums.of(root, path, file),
      filesize: stat.size,
    };
  }
}

/** Folders that are searched: not hidden ones, which may contain unfinished images. */
function isPlain(folder: string): boolean {
  return !posix.basename(folder).startsWith('.');
}

/** Every file below a folder, if it exists. */
async function* filesBelow(root: string, enter = isPlain): AsyncGenerator<{ path: string }> {
  try {
    yield* listContained(root, enter);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    if (thrown.code !== 'not-found') log.warn('a folder of images cannot be read', { root, reason: thrown.message });
  }
}
