// What is known of disks that have not changed since qemu-img looked at them: each of its runs is a good part of a machine's start.
import { lstat } from 'node:fs/promises';

/** More than one host runs; then all is looked at again. */
const MOST = 10_000;

export class KnownDisks {
  /** By path of an image: which file it was, and its format. */
  readonly #images = new Map<string, { identity: string; format: string }>();
  /** By path of a copy: which file it was, and upon which image. */
  readonly #copies = new Map<string, string>();

  /** The format of an image that was found whole, if it is still the same. */
  async formatOf(path: string): Promise<string | undefined> {
    const found = this.#images.get(path);
    return found && found.identity === (await contentOf(path)) ? found.format : undefined;
  }

  /** @param identity `contentOf` it from before it was looked at */
  noteImage(path: string, identity: string, format: string): void {
    if (this.#images.size >= MOST) this.#images.clear();
    this.#images.set(path, { identity, format });
  }

  /** Whether a copy is the one that was put on this very image. */
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

/** Tells a file's content from any other that it may have later. */
export async function contentOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}
