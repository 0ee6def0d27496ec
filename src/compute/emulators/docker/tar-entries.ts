// Some of the entries of a tar archive, passed on as they are. The Engine has no archive of a stopped container but the whole of its files.
import { Failure } from '../../../failures.ts';
import { exception } from './engine.ts';

const BLOCK = 512;
/** Of the extended headers of an entry: its path is in them. */
const LARGEST_HEADERS = 2 ** 20;

/** What comes before an entry, and applies to it alone: of POSIX (pax), and of GNU a long name and a long target of a link. */
const BEFORE_ENTRY = 'xLK';

/** @param isWanted called with paths that begin with "/" and do not end with it */
export async function* tarEntries(
  archive: AsyncIterable<Buffer>,
  isWanted: (path: string) => boolean,
): AsyncGenerator<Buffer> {
  await using reader = new BlockReader(archive);
  let headers: Buffer[] = [];
  let extended = new Map<string, string>();
  for (;;) {
    const header = await reader.take(BLOCK);
    // The end is two such blocks.
    if (!header || header.every((byte) => byte === 0)) break;
    const type = String.fromCharCode(header[156]!);
    if (BEFORE_ENTRY.includes(type)) {
      const bytes = sizeOf(header);
      if (bytes > LARGEST_HEADERS) throw broken('it has a header of more than 1 MiB');
      const content = await reader.require(padded(bytes));
      headers.push(header, content);
      const text = content.subarray(0, bytes);
      if (type === 'x') extended = new Map([...extended, ...recordsOf(text)]);
      else if (type === 'L') extended.set('path', text.toString().replace(/\0.*$/s, ''));
      continue;
    }
    const path = extended.get('path') ?? pathOf(header);
    const isKept = isWanted(`/${path.replace(/^\.?\/+|\/+$/g, '')}`);
    if (isKept) yield* [...headers, header];
    let left = padded(Number(extended.get('size') ?? sizeOf(header)));
    while (left > 0) {
      const piece = await reader.some(left);
      left -= piece.length;
      if (isKept) yield piece;
    }
    headers = [];
    extended = new Map();
  }
  await reader.drain();
  yield Buffer.alloc(2 * BLOCK);
}

class BlockReader implements AsyncDisposable {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(archive: AsyncIterable<Buffer>) {
    this.#pieces = archive[Symbol.asyncIterator]();
  }

  /** Undefined at the end. */
  async take(bytes: number): Promise<Buffer | undefined> {
    const pieces = [this.#rest];
    let found = this.#rest.length;
    while (found < bytes) {
      const { done, value } = await this.#pieces.next();
      if (done) break;
      pieces.push(value);
      found += value.length;
    }
    this.#rest = Buffer.concat(pieces);
    if (found === 0 && bytes > 0) return undefined;
    if (found < bytes) throw broken('it ends within a file');
    return this.#split(bytes);
  }

  async require(bytes: number): Promise<Buffer> {
    return (await this.take(bytes)) ?? Promise.reject(broken('it ends within a header'));
  }

  /** Some bytes, at most so many. */
  async some(most: number): Promise<Buffer> {
    if (this.#rest.length === 0) {
      const { done, value } = await this.#pieces.next();
      if (done) throw broken('it ends within a file');
      this.#rest = value;
    }
    return this.#split(Math.min(most, this.#rest.length));
  }

  #split(bytes: number): Buffer {
    const first = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return first;
  }

  /** Reads to the end, so that an error there is not missed. */
  async drain(): Promise<void> {
    while (!(await this.#pieces.next()).done);
  }

  /** The Engine sends no more of an archive that is not read to its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pieces.return?.();
  }
}

const padded = (bytes: number): number => Math.ceil(bytes / BLOCK) * BLOCK;

const textOf = (header: Buffer, start: number, length: number): string =>
  header.toString('utf8', start, start + length).replace(/\0.*$/s, '');

function pathOf(header: Buffer): string {
  const prefix = textOf(header, 257, 6) === 'ustar' ? textOf(header, 345, 155) : '';
  return prefix === '' ? textOf(header, 0, 100) : `${prefix}/${textOf(header, 0, 100)}`;
}

function sizeOf(header: Buffer): number {
  // GNU writes numbers that are too large for octal digits as bytes.
  if ((header[124]! & 0x80) !== 0) return Number(header.readBigUInt64BE(128));
  return Number.parseInt(textOf(header, 124, 12).trim() || '0', 8);
}

/** Each is its length in decimal, a space, NAME=VALUE and a line end. */
function recordsOf(content: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const length = Number.parseInt(content.toString('latin1', at, at + 10), 10);
    if (!(length > 0)) throw broken('a header of it has no length');
    const record = content.toString('utf8', at, at + length - 1);
    const [, name, value] = /^\d+ ([^=]+)=(.*)$/s.exec(record) ?? [];
    if (name !== undefined && value !== undefined) records.set(name, value);
    at += length;
  }
  return records;
}

function broken(reason: string): Failure {
  return new Failure('conflict', `The archive of the container is damaged: ${reason}.`, { exception });
}
