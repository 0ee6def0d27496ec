// Downloads an image. A partial file stays next to its target, and the same command resumes it.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { conflict, type Failure, unavailable } from '../../failures.ts';
import { fileFailure } from '../../host/files/atomic-file.ts';
import type { Session } from '../frame/session.ts';
import { inBytes } from '../terminal/figures.ts';
import { save } from '../terminal/files.ts';
import { meter } from '../terminal/progress.ts';

const GOES_ON = 'the same command goes on there';
/** Characters of the checksum in the name of a part: another image of this name has another. */
const SHORT_SUM = 8;

export interface WantedImage {
  /** At the server. */
  path: string;
  /** Here. */
  file: string;
  md5: string;
  size: number;
}

/** @throws Failure of the server or the file; a partial file stays unless it is wrong */
export async function receiveImage(session: Session, { path, file, md5, size }: WantedImage): Promise<void> {
  const part = `${file}.${md5.slice(0, SHORT_SUM)}.part`;
  await using arriving = await Part.open(part);
  const goOn = (): string => (arriving.bytes > 0 ? `; ${GOES_ON}, behind ${inBytes(arriving.bytes)}.` : '.');
  const tidyUp = async (): Promise<void> => {
    if (arriving.bytes === 0) await unlink(part).catch(() => {});
  };
  const told = session.ending.defer(async () => {
    await tidyUp();
    session.remark(`Interrupted${goOn()}`);
  });
  try {
    if (arriving.bytes > size) await arriving.clear();
    if (arriving.bytes > 0) session.remark(`Continuing: ${inBytes(arriving.bytes)} are already here.`);
    using _meter = meter(session, () => arriving.bytes, size, arriving.bytes);
    if (arriving.bytes < size) await receive(session, path, arriving);
    if (arriving.bytes === size && arriving.digest() === md5) {
      await arriving.sync();
      await rename(part, file);
      return;
    }
    await unlink(part);
    throw changed(file);
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw fileFailure(error, part);
    throw unavailable(`${error.message}${goOn()}`, { cause: error });
  } finally {
    told.cancel();
    await tidyUp();
  }
}

const changed = (file: string): Failure =>
  conflict(`${file}: the image changed during the download: repeat the command.`);

/** Writes an image to a device or a pipe. @throws Failure after the last byte when the checksum is another */
export async function passImage(session: Session, { path, file, md5 }: Omit<WantedImage, 'size'>): Promise<void> {
  const hash = createHash('md5');
  const answer = await session.api.stream(path);
  const passing = Readable.from(
    (async function* () {
      for await (const piece of answer) {
        hash.update(piece as Buffer);
        yield piece;
      }
    })(),
  );
  await save(session, passing, file);
  if (hash.digest('hex') !== md5) throw changed(file);
}

/** The connection has ended too early. */
class BrokenOff extends Error {}

/** Downloads the missing part, or everything if the server does not support ranges. */
async function receive(session: Session, path: string, arriving: Part): Promise<void> {
  const headers = arriving.bytes > 0 ? { Range: `bytes=${arriving.bytes}-` } : {};
  const answer = await session.api.stream(path, headers);
  if (answer.statusCode !== 206) await arriving.clear();
  const expected = arriving.bytes + Number(answer.headers['content-length'] ?? Number.NaN);
  for await (const piece of piecesOf(answer)) await arriving.append(piece);
  if (arriving.bytes < expected) throw new BrokenOff('The connection broke off');
}

async function* piecesOf(answer: IncomingMessage): AsyncIterable<Buffer> {
  try {
    yield* answer;
  } catch (error) {
    throw new BrokenOff('The connection broke off', { cause: error });
  }
}

/** A partial file and the checksum of its content. */
class Part implements AsyncDisposable {
  bytes = 0;
  readonly #handle: FileHandle;
  #hash = createHash('md5');

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(file: string): Promise<Part> {
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
    try {
      const part = new Part(await open(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o644));
      for await (const piece of part.#handle.createReadStream({ start: 0, autoClose: false })) part.#took(piece);
      return part;
    } catch (error) {
      throw fileFailure(error, file);
    }
  }

  async append(piece: Buffer): Promise<void> {
    for (let written = 0; written < piece.length; ) {
      const { bytesWritten } = await this.#handle.write(piece, written, null, this.bytes + written);
      written += bytesWritten;
    }
    this.#took(piece);
  }

  async clear(): Promise<void> {
    await this.#handle.truncate(0);
    this.#hash = createHash('md5');
    this.bytes = 0;
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  sync(): Promise<void> {
    return this.#handle.sync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }

  #took(piece: Buffer): void {
    this.#hash.update(piece);
    this.bytes += piece.length;
  }
}
