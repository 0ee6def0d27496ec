// Files of this machine: what the server sends is kept as a whole, and what it is sent is read as it goes.
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../failures.ts';
import { createAtomicFile, fileFailure } from '../../host/files/atomic-file.ts';
import { exists } from '../../host/files/exists.ts';
import type { Session } from '../frame/session.ts';
import type { Body } from '../server/api.ts';
import { meter } from './progress.ts';

/** The flag of commands that write a file. */
export const REPLACES = { summary: 'replace a file that is there' } as const;

/** @throws Failure for a file that is there, unless it may be replaced */
export async function mustBeFree(file: string, force: boolean): Promise<void> {
  if (!force && (await exists(file))) {
    throw new Failure('conflict', `${file} is there already: name another with --to FILE, or replace it with --force.`);
  }
}

/** What a server sends, or what was made of it. */
type Content = Readable & Partial<Pick<IncomingMessage, 'headers'>>;

/** Writes all that comes to a file, or to standard output (`-`); a file is there when it is complete. */
export async function save(session: Session, content: Content, file: string): Promise<void> {
  if (file === '-') return pipeline(content, process.stdout, { end: false });
  const target = await createAtomicFile(file);
  const giveUp = session.ending.defer(() => target.abort());
  let written = 0;
  const length = content.headers?.['content-length'];
  using _meter = meter(session, () => written, length === undefined ? undefined : Number(length));
  try {
    await target.write(content, (bytes) => {
      written = bytes;
    });
    await target.commit();
  } finally {
    await giveUp.now();
  }
}

export interface SentFile extends Disposable {
  body: Body;
}

/** A file, or what of it is behind so many bytes, as the body of a request; disposed of when it is answered. @throws Failure for one that cannot be read */
export async function fileBody(session: Session, file: string, start = 0): Promise<SentFile> {
  try {
    const handle = await open(file);
    const status = await handle.stat();
    if (!status.isFile()) {
      await handle.close();
      throw new Failure('conflict', `${file}: it is not a file that can be sent.`);
    }
    const content = handle.createReadStream({ start, highWaterMark: 256 * 1024 });
    const shown = meter(session, () => start + content.bytesRead, status.size, start);
    const end = (): void => {
      shown[Symbol.dispose]();
      content.destroy();
    };
    return { body: { content, type: 'application/octet-stream', length: status.size - start }, [Symbol.dispose]: end };
  } catch (error) {
    throw fileFailure(error, file);
  }
}
