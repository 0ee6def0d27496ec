// The notes of a lab: the file in its directory that the release's clients show as its readme.
import type { FileObject } from '../../api/objects.ts';
import type { Notes } from '../../api/routes/projects.ts';
import { Failure, tooLarge } from '../../failures.ts';
import { openContainedForRead, writeContained } from '../../host/files/contained-files.ts';
import { readBounded } from '../../host/files/regular-file.ts';

export const NOTES_FILE = 'README.txt';
const MOST_BYTES = 256 * 1024;

/** Empty without a file. */
export async function readNotes(directory: string): Promise<Notes> {
  try {
    const { handle } = await openContainedForRead(directory, NOTES_FILE);
    await using file = handle;
    return { text: textOf(await readBounded(file, MOST_BYTES, NOTES_FILE)) };
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'not-found') return { text: '' };
    throw thrown;
  }
}

/** @throws Failure `too-large`, `forbidden` (a link out of the directory) */
export async function writeNotes(directory: string, { text }: Notes): Promise<void> {
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES) throw tooLarge(`text: the notes have ${bytes} bytes; shorten them to ${MOST_BYTES}.`);
  await writeContained(directory, NOTES_FILE, text, { createParents: false });
}

/** What is announced of the file. @throws Failure `not-found`, `forbidden` */
export async function notesFile(directory: string): Promise<Omit<FileObject, 'project_id'>> {
  const { handle, stat } = await openContainedForRead(directory, NOTES_FILE);
  await handle.close();
  return { path: NOTES_FILE, size: stat.size, mtime: stat.mtimeMs / 1000 };
}

/** UTF-8, or the encoding of older Windows, in which every byte is a character. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
