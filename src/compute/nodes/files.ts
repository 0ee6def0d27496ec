// Files in the directories of nodes.
import { join } from 'node:path';
import { Failure } from '../../failures.ts';
import { openContainedForRead, writeContained } from '../../host/files/contained-files.ts';
import { listContained } from '../../host/files/contained-tree.ts';
import { readBounded } from '../../host/files/regular-file.ts';
import type { NodeProject } from './owner.ts';

/** Limit for scripts and configurations that the server itself processes; longer files are neither. */
const TEXT_LIMIT_BYTES = 1024 * 1024;

/** The text of a file below the directory; undefined if it is missing, or too long to be a script. */
export async function readText(
  directory: string,
  path: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
): Promise<string | undefined> {
  return (await readBytes(directory, path, TEXT_LIMIT_BYTES))?.toString(encoding);
}

/** The content of a file below the directory; undefined if it is missing, or longer. */
export async function readBytes(directory: string, path: string, most: number): Promise<Buffer | undefined> {
  try {
    const { handle } = await openContainedForRead(directory, path);
    await using file = handle;
    return await readBounded(file, most, path);
  } catch (thrown) {
    if (thrown instanceof Failure && (thrown.code === 'not-found' || thrown.code === 'too-large')) return undefined;
    throw thrown;
  }
}

/**
 * Copies every file below one directory of the project to the same path below another one. Existing files are replaced.
 */
export async function copyFiles({ path: root }: NodeProject, from: string, to: string): Promise<void> {
  try {
    for await (const { path } of listContained(join(root, from))) {
      const { handle } = await openContainedForRead(root, `${from}/${path}`);
      await using _ = handle;
      const content = handle.createReadStream({ autoClose: false });
      await writeContained(root, `${to}/${path}`, content, { createParents: true });
    }
  } catch (thrown) {
    // A node that was never started has no directory, so there is nothing to copy.
    if (!(thrown instanceof Failure) || thrown.code !== 'not-found') throw thrown;
  }
}
