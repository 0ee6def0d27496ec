// Cached results of qemu-img for unchanged disks: each run takes a large part of a machine's start.
import { lstat } from 'node:fs/promises';

/** More than one host runs; beyond that all is checked again. */
const MOST = 10_000;

export class KnownDisks {
  /** By path of an image: the file's identity, and its format. */
  readonly #images = new Map<string, { identity: string; format: string }>();
  /** By path of a copy: the identities of the file and of its image. */
  readonly #copies = new Map<string, string>();

  /** The format of an image that was found intact, if it is unchanged. */
  async formatOf(path: string): Promise<string | undefined> {
    const found = this.#images.get(path);
    return found && found.identity === (await contentOf(path)) ? found.format : undefined;
  }

  /** @param identity its `contentOf` from before the check */
  noteImage(path: string, identity: string, format: string): void {
    if (this.#images.size >= MOST) this.#images.clear();
    this.#images.set(path, { identity, format });
  }

  /** Whether the copy was put on exactly this image. */
  async isOn(copy: string, image: string): Promise<boolean> {
    return this.#copies.get(copy) === (await this.#pair(copy, image));
  }

  async noteCopy(copy: string, image: string): Promise<void> {
    if (this.#copies.size >= MOST) this.#copies.clear();
    this.#copies.set(copy, await this.#pair(copy, image));
  }

  async #pair(copy: string, image: string): Promise<string> {
    const { dev, ino, birthtimeNs } = await lstat(copy, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs} ${image} ${await contentOf(image)}`;
  }
}

/** An identity that changes with a file's content. */
export async function contentOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}
