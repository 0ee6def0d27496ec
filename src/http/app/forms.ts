// Streams files that pages send as forms (multipart/form-data, RFC 7578).
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { Busboy } from '@fastify/busboy';
import { conflict, Failure, messageOf } from '../../failures.ts';

/** Forms have few and small fields besides the file. */
const LIMITS = { files: 1, parts: 50, fieldSize: 64 * 1024, headerPairs: 50, headerSize: 16 * 1024 };

/**
 * The body, or the first file in a form; other fields are ignored.
 * @throws Failure `conflict` while reading: a form without a file, or a truncated one
 */
export function uploaded(
  headers: Headers,
  body: ReadableStream<Uint8Array> | null,
): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null {
  const type = headers.get('content-type') ?? '';
  const isForm = /^multipart\/form-data\s*;.*\bboundary=/i.test(type);
  return body !== null && isForm ? fileOfForm(type, body) : body;
}

async function* fileOfForm(type: string, body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const form = new Busboy({ headers: { 'content-type': type }, limits: LIMITS });
  const found = Promise.withResolvers<Readable | undefined>();
  form.on('file', (_field, file) => found.resolve(file));
  const reading = pipeline(Readable.fromWeb(body as WebStream<Uint8Array>), form);
  let file: Readable | undefined;
  reading.then(
    () => found.resolve(undefined),
    (error: Error) => {
      found.reject(error);
      file?.destroy(error);
    },
  );
  try {
    file = await found.promise;
    if (file === undefined) throw conflict('The form holds no file: send one, or the file itself as the body.');
    yield* file;
    await reading;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw conflict(`The form cannot be read: ${messageOf(error)}`, { cause: error });
  } finally {
    reading.catch(() => {});
    form.destroy();
  }
}
