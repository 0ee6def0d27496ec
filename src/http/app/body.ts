// Reading JSON bodies: bounded in size, in depth and in time.
import { Failure } from '../../failures.ts';
import { parseJsonBounded } from '../../store/json.ts';

/** The release's limit for bodies that are not files, in bytes. */
export const BODY_LIMIT_BYTES = 1_048_576;
/** More than any client sends; few enough for every recursive walk, and for others not to wait. */
const BOUNDS = { maxDepth: 64, maxContainers: 20_000, maxValues: 100_000 };
/** A JSON body is small: a client that needs longer than this (milliseconds) is stuck or hostile. */
const BODY_TIMEOUT_MS = 30_000;
/** Chunks below this size, in bytes, are copied into blocks: each chunk takes some hundred bytes more than its content. */
const SMALL_BYTES = 4 * 1024;
const BLOCK_BYTES = 16 * 1024;

/** A body that is not JSON; `request` of the answer shows it as the release does. */
export class MalformedBody extends Failure {
  readonly request: { malformed_json: string };

  constructor(reason: string, text: string) {
    super('invalid', `The body is not acceptable JSON: ${reason}`);
    this.request = { malformed_json: text.slice(0, 1000) };
  }
}

/** A body's chunks. They become text only at its end: a body that is refused costs less time, and less garbage is left. */
class Chunks {
  readonly #whole: Uint8Array[] = [];
  /** Where small chunks are copied to, and how much of it is used. */
  #block = new Uint8Array();
  #used = 0;
  /** Bytes so far. */
  size = 0;

  add(chunk: Uint8Array): void {
    this.size += chunk.length;
    if (chunk.length >= SMALL_BYTES || this.size === chunk.length) {
      this.#endBlock();
      this.#whole.push(chunk);
      return;
    }
    if (chunk.length > this.#block.length - this.#used) {
      this.#endBlock();
      this.#block = new Uint8Array(BLOCK_BYTES);
    }
    this.#block.set(chunk, this.#used);
    this.#used += chunk.length;
  }

  /** @throws TypeError if it is not UTF-8 */
  text(): string {
    this.#endBlock();
    const bytes = this.#whole.length === 1 ? this.#whole[0] : Buffer.concat(this.#whole);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  }

  #endBlock(): void {
    if (this.#used > 0) this.#whole.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}

async function readBounded(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const chunks = new Chunks();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void reader.cancel().catch(() => {});
  }, BODY_TIMEOUT_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) throw new Failure('time-out', `The body did not arrive within ${BODY_TIMEOUT_MS / 1000} s.`);
      if (done) return chunks.text();
      chunks.add(value);
      if (chunks.size > BODY_LIMIT_BYTES) {
        throw new Failure(
          'too-large',
          `The body is larger than ${BODY_LIMIT_BYTES} bytes; send files to a files or images route.`,
        );
      }
    }
  } catch (error) {
    if (error instanceof TypeError) throw new MalformedBody('it is not UTF-8 text', '');
    if (error instanceof Failure) throw error;
    throw new Failure('time-out', 'The body broke off.', { cause: error });
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
}

/**
 * The parsed body; an empty one is an empty object.
 * @throws Failure `too-large`, MalformedBody
 */
export async function readJsonBody(stream: ReadableStream<Uint8Array> | null): Promise<unknown> {
  const text = stream === null ? '' : await readBounded(stream);
  if (text === '') return {};
  try {
    return parseJsonBounded(text, BOUNDS);
  } catch (error) {
    throw new MalformedBody(error instanceof Error ? error.message : String(error), text);
  }
}

/** Query parameters as the release sees them: the first value of each name, empty ones dropped. */
export function queryMembers(search: string): Record<string, string> {
  const members: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (value !== '' && name !== '__proto__' && !Object.hasOwn(members, name)) members[name] = value;
  }
  return members;
}

/** The query parameters written over the top level of the body, as text. */
export function mergeQuery(body: unknown, query: Record<string, string>): unknown {
  if (Object.keys(query).length === 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return { ...body, ...query };
}
