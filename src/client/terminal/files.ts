// Local files: downloads are stored completely or not at all; uploads are streamed.
import { lstat, open, readFile, readlink, realpath, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { conflict, ignoreMissing } from '../../failures.ts';
import { createAtomicFile, fileFailure, throwFileFailure } from '../../host/files/atomic-file.ts';
import { exists } from '../../host/files/exists.ts';
import type { Session } from '../frame/session.ts';
import type { Body } from '../server/api.ts';
import { meter } from './progress.ts';

/** The flag of commands that write a file. */
export const REPLACES = { summary: 'replace an existing file' } as const;

/** Written through this process's stream: `/dev/stdout` opened again would begin, and empty, the file behind `>>`. */
export const isStandardOutput = (file: string): boolean =>
  ['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'].includes(file);

/** Whether the file is standard output, a device or a pipe, which is written to and never replaced. */
export async function isStream(file: string): Promise<boolean> {
  if (isStandardOutput(file)) return true;
  const status = await stat(file).catch(() => undefined);
  return status !== undefined && !status.isFile() && !status.isDirectory();
}

/** The path of the file that is replaced: the target of a link. @throws Failure for a link that may not be followed */
export async function replacedFile(file: string): Promise<string> {
  let shown = file;
  try {
    if (!(await lstat(file).catch(ignoreMissing))?.isSymbolicLink()) return file;
    const target = await readlink(file);
    shown = `${file} (a link to ${target})`;
    const status = await stat(file).catch(ignoreMissing);
    if (!status) {
      // The missing target is created, as by a shell.
      const missing = isAbsolute(target) ? target : `${dirname(file)}/${target}`;
      return await replacedFile(join(await realpath(dirname(missing)), basename(missing)));
    }
    if (!status.isFile()) return file;
    // The kernel refuses links of strangers in shared folders such as /tmp.
    await (await open(file, 'r+')).close();
    return await realpath(file);
  } catch (error) {
    throw fileFailure(error, shown);
  }
}

/** @throws Failure if the file exists, unless it may be replaced */
export async function mustBeFree(file: string, force: boolean): Promise<void> {
  if (!force && !(await isStream(file)) && (await exists(file))) {
    throw conflict(`${file} exists already: choose another with --to FILE, or replace it with --force.`);
  }
}

/** A server's response, or a stream made from it. */
type Content = Readable & Partial<Pick<IncomingMessage, 'headers'>>;

/** Writes a stream to a file, which appears when complete, or to standard output (`-`), a device or a pipe. */
export async function save(session: Session, content: Content, file: string): Promise<void> {
  if (isStandardOutput(file)) return pipeline(content, process.stdout, { end: false });
  if (await isStream(file)) {
    const handle = await open(file, 'w').catch(throwFileFailure(file));
    return pipeline(content, handle.createWriteStream()).catch(throwFileFailure(file));
  }
  const target = await createAtomicFile(await replacedFile(file), { shownAs: file });
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

/** The text of a file; `-` is standard input. @throws Failure when it cannot be read */
export async function textOfFile(file: string): Promise<string> {
  return file === '-' ? text(process.stdin) : readFile(file, 'utf8').catch(throwFileFailure(file));
}

export interface SentFile extends Disposable {
  body: Body;
}

/**
 * A file, or its part from an offset, as a request body; close it after the response.
 * @throws Failure if it cannot be read
 */
export async function fileBody(session: Session, file: string, start = 0): Promise<SentFile> {
  try {
    const handle = await open(file);
    const status = await handle.stat();
    if (!status.isFile()) {
      await handle.close();
      throw conflict(`${file}: only regular files can be sent.`);
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
