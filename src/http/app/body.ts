// Reads JSON bodies, limited in size, depth and time.
import { Failure, invalid, timedOut, tooLarge } from '../../failures.ts';
import { parseJsonBounded } from '../../store/json.ts';

/** The release's limit for bodies that are not files, in bytes. */
export const BODY_LIMIT_BYTES = 1_048_576;
/** More than any client needs, and little enough for recursive code and other clients. */
const BOUNDS = { maxDepth: 64, maxContainers: 20_000, maxValues: 100_000, wellFormed: true };
/** A JSON body is small: a client that needs longer (ms) is stuck or hostile. */
const BODY_TIMEOUT_MS = 30_000;
/** Smaller chunks (bytes) are copied into blocks, as each chunk costs some hundred extra bytes. */
const SMALL_BYTES = 4 * 1024;
const BLOCK_BYTES = 16 * 1024;

/** An invalid JSON body; the error's `request` shows it as in the release. */
export class MalformedBody extends Failure {
  readonly request: { malformed_json: string };

  constructor(reason: string, text: string) {
    super('invalid', `The body is not acceptable JSON: ${reason}`);
    this.request = { malformed_json: text.slice(0, 1000) };
  }
}

/** A body's chunks, converted to text only at the end: a refused body then costs less time and garbage. */
class Chunks {
  readonly #whole: Uint8Array[] = [];
  /** The block for small chunks, and its used length. */
  #block = new Uint8Array();
  #used = 0;
  /** Bytes received. */
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

async function readBounded(stream: ReadableStream<Uint8Array>, limitBytes = BODY_LIMIT_BYTES): Promise<string> {
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
      if (late) throw timedOut(`The body did not arrive within ${BODY_TIMEOUT_MS / 1000} s.`);
      if (done) return chunks.text();
      chunks.add(value);
      if (chunks.size > limitBytes) {
        throw tooLarge(`The body is larger than ${limitBytes} bytes; send files to a files or images route.`);
      }
    }
  } catch (error) {
    if (error instanceof TypeError) throw new MalformedBody('it is not UTF-8 text', '');
    if (error instanceof Failure) throw error;
    throw timedOut('The body broke off.', { cause: error });
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
}

/**
 * The parsed body; an empty one is an empty object.
 * @throws Failure `too-large`, MalformedBody
 */
export async function readJsonBody(stream: ReadableStream<Uint8Array> | null, limitBytes?: number): Promise<unknown> {
  const text = stream === null ? '' : await readBounded(stream, limitBytes);
  if (text === '') return {};
  try {
    return parseJsonBounded(text, BOUNDS);
  } catch (error) {
    throw new MalformedBody(error instanceof Error ? error.message : String(error), text);
  }
}

/**
 * The fields of a form of the type application/x-www-form-urlencoded; empty ones are dropped.
 * @throws Failure `invalid` for another type, `too-large`
 */
export async function readFormBody({
  headers,
  stream,
}: {
  headers: Headers;
  stream: ReadableStream<Uint8Array> | null;
}): Promise<Record<string, string>> {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\b/i.test(type))
    throw invalid('Invalid request: the body has to be a form (application/x-www-form-urlencoded).');
  return queryMembers(stream === null ? '' : await readBounded(stream));
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
