// JSON responses; large ones are gzipped in the thread pool for clients that accept it, without blocking others.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { constants, createGzip } from 'node:zlib';

/** Smaller responses do not gain from compression. */
const SMALLEST_COMPRESSED_BYTES = 8 * 1024;

/** Whether `Accept-Encoding` (RFC 9110, section 12.5.3) allows gzip. Without the header: no. */
export function acceptsGzip(header: string | null): boolean {
  let any = false;
  for (const item of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const isWanted = !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter));
    if (name === 'gzip' || name === 'x-gzip') return isWanted;
    if (name === '*') any = isWanted;
  }
  return any;
}

interface AnswerHead {
  status: number;
  headers: Readonly<Record<string, string>>;
}

/**
 * A JSON response. A compressed one has a weak entity tag, as its bytes differ but not its meaning.
 * @param body mostly ASCII: its length in bytes is not looked for
 * @param asked the request's headers
 */
export async function compressed(
  body: string | readonly Buffer[],
  { status, headers }: AnswerHead,
  asked: Headers,
): Promise<Response> {
  const all = new Headers({ ...headers, 'Content-Type': 'application/json' });
  const size = typeof body === 'string' ? body.length : body.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (size >= SMALLEST_COMPRESSED_BYTES) {
    all.append('Vary', 'Accept-Encoding');
    if (acceptsGzip(asked.get('accept-encoding'))) return packed(body, { status, headers: all });
  }
  if (typeof body === 'string') return new Response(body, { status, headers: all });
  all.set('Content-Length', String(size));
  return new Response(partStream(body), { status, headers: all });
}

async function packed(
  body: string | readonly Buffer[],
  { status, headers }: { status: number; headers: Headers },
): Promise<Response> {
  const parts = typeof body === 'string' ? [Buffer.from(body)] : body;
  const bytes = await buffer(Readable.from(parts).pipe(createGzip({ level: constants.Z_BEST_SPEED })));
  headers.set('Content-Encoding', 'gzip');
  headers.set('Content-Length', String(bytes.byteLength));
  const tag = headers.get('etag');
  if (tag?.startsWith('"')) headers.set('ETag', `W/${tag}`);
  return new Response(new Uint8Array(bytes), { status, headers });
}

function partStream(parts: readonly Buffer[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const part = parts[next++];
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}
