// JSON responses; large ones are gzipped in the thread pool for clients that accept it, without blocking others.
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compress = promisify(gzip);

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
 * @param asked the request's headers
 */
export async function compressed(text: string, { status, headers }: AnswerHead, asked: Headers): Promise<Response> {
  const all = new Headers({ ...headers, 'Content-Type': 'application/json' });
  // The JSON is ASCII: one byte per character.
  if (text.length < SMALLEST_COMPRESSED_BYTES) return new Response(text, { status, headers: all });
  all.append('Vary', 'Accept-Encoding');
  if (!acceptsGzip(asked.get('accept-encoding'))) return new Response(text, { status, headers: all });
  const packed = await compress(text, { level: constants.Z_BEST_SPEED });
  all.set('Content-Encoding', 'gzip');
  all.set('Content-Length', String(packed.byteLength));
  const tag = all.get('etag');
  if (tag?.startsWith('"')) all.set('ETag', `W/${tag}`);
  return new Response(new Uint8Array(packed.buffer as ArrayBuffer, packed.byteOffset, packed.byteLength), {
    status,
    headers: all,
  });
}
