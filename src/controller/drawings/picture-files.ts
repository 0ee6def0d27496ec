// Reads the picture files of a lab's drawings, within limits: an archive may name a large file in many drawings.
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { readBounded } from '../../host/files/regular-file.ts';
import { EMPTY, isPictureName, shownPicture } from './pictures.ts';

/** The folder of the picture files within a project. */
export const IMAGES = 'project-files/images';
/** As many as clients may send. A larger file is shown as an empty drawing. */
const LARGEST_BYTES = 32 * 1024 * 1024;
/** Of the drawings that are shown together; further ones are empty. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** For drawings that are shown together: each file is read once. */
export class PictureFiles {
  readonly #directory: string;
  readonly #shown = new Map<string, string>();
  #left = MOST_CHARACTERS;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The picture of a drawing, which is stored as this text or in the file of this name. */
  async show(kept: string): Promise<string> {
    if (!isPictureName(kept)) return kept;
    const shown = this.#shown.get(kept) ?? (await this.#read(kept));
    this.#shown.set(kept, shown);
    if (shown.length > this.#left) return EMPTY;
    this.#left -= shown.length;
    return shown;
  }

  async #read(name: string): Promise<string> {
    try {
      const { handle, stat } = await openContainedForRead(this.#directory, `${IMAGES}/${name}`);
      await using file = handle;
      const most = Math.min(LARGEST_BYTES, this.#left);
      return stat.size > most ? EMPTY : shownPicture(name, await readBounded(file, most, name));
    } catch {
      return EMPTY;
    }
  }
}
