// Contents that a lab file includes or refers to.
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { invalid, messageOf } from '../../failures.ts';
import { fileFailure } from '../../host/files/atomic-file.ts';
import { readRegularFile } from '../../host/files/regular-file.ts';
import { isBelow } from '../../host/files/relative-path.ts';
import type { Content } from './schema.ts';
import { filledText, type Values } from './substitution.ts';

/** The files that a file may name. */
export interface Beside {
  /** Paths are seen from it. */
  directory: string;
  /** Files outside of the directory count, too. */
  outside: boolean;
}

export interface WantedText {
  bytes: Buffer;
  /** The file's path as written, or resolved if it is outside. Undefined: inline text. */
  from?: string;
}

/** Bytes of a file that is named, at most: it is read as a whole. */
const LARGEST_BYTES = 64 * 2 ** 20;

/**
 * The content in bytes. Inline text is filled in; a file is used unchanged.
 * @throws Failure `invalid` if the file is missing, outside of the directory without permission, not regular, or too large
 */
export async function contentOf(content: Content, { directory, outside }: Beside, values: Values): Promise<WantedText> {
  if (typeof content === 'string') return { bytes: Buffer.from(filledText(content, values)) };
  const path = filledText(content.file, values);
  try {
    const [root, place] = await Promise.all([realpath(directory), realpath(resolve(directory, path))]);
    const isInside = isBelow(root, place);
    if (!isInside && !outside) {
      const leads = place === resolve(directory, path) ? '' : ` (${place})`;
      throw invalid(
        `${path}${leads} is outside the lab file's folder ${root}: copy it there, or allow it with --allow-outside`,
      );
    }
    return { bytes: await readRegularFile(place, LARGEST_BYTES, path), from: isInside ? path : place };
  } catch (error) {
    throw invalid(messageOf(fileFailure(error, path)));
  }
}
