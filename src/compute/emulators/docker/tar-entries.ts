// Some of the entries of a tar archive. The Engine has no archive of a stopped container but the whole of its files.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure, messageOf } from '../../../failures.ts';
import { refusal } from './engine.ts';

/** @param isWanted called with paths that begin with "/" and do not end with it */
export async function* tarEntries(
  archive: AsyncIterable<Buffer>,
  isWanted: (path: string) => boolean,
): AsyncGenerator<Buffer> {
  const { extract, pack } = await import('tar-stream');
  const [all, wanted] = [extract(), pack()];
  const pick = async (): Promise<void> => {
    for await (const entry of all) {
      const { header } = entry;
      if (isWanted(`/${header.name.replace(/^\.?\/+|\/+$/g, '')}`)) await pipeline(entry, wanted.entry(header));
      else entry.resume();
    }
    wanted.finalize();
  };
  const picked = Promise.all([pipeline(Readable.from(archive), all), pick()]).catch((error: unknown) => {
    wanted.destroy(error as Error);
  });
  try {
    for await (const piece of wanted) yield piece as Buffer;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw refusal(`The archive of the container is damaged: ${messageOf(error)}.`);
  } finally {
    // The Engine sends no more of an archive that is not read to its end.
    all.destroy();
    await picked;
  }
}
