// Texts of a file, which stand in it or in other files beside it.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure, messageOf } from '../../failures.ts';
import { fileFailure } from '../../host/atomic-file.ts';
import type { Content } from './schema.ts';
import { filledText, type Values } from './substitution.ts';

/**
 * What a text has, in bytes. One that stands in the file is filled in; another file is taken as it is.
 * @param directory of the file
 * @throws Failure
 */
export async function contentOf(content: Content, directory: string, values: Values): Promise<Buffer> {
  if (typeof content === 'string') return Buffer.from(filledText(content, values));
  const path = filledText(content.file, values);
  try {
    return await readFile(resolve(directory, path));
  } catch (error) {
    throw new Failure('invalid', messageOf(fileFailure(error, path)));
  }
}
