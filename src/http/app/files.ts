// Files of a directory over HTTP, both ways, never held in memory.
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { Failure } from '../../failures.ts';
import { openContainedForRead, type WriteOptions, writeContained } from '../../host/files/contained-files.ts';

/**
 * A file below `root` as a response; its type follows from its name.
 * @param range what a client wants of it (RFC 9110, section 14.2): `bytes=N-` or `bytes=N-M`; for anything else it gets the whole file
 * @throws Failure `forbidden`, `not-found`, `conflict` (a directory)
 */
export async function downloadFile(root: string, path: string, range?: string | null): Promise<Response> {
  const { handle, stat } = await openContainedForRead(root, path);
  const part = partOf(range ?? '', stat.size);
  const { start, end } = part ?? { start: 0, end: stat.size - 1 };
  const headers = {
    'Content-Type': await mediaType(path),
    'Content-Length': String(end - start + 1),
    'Accept-Ranges': 'bytes',
    ...(part && { 'Content-Range': `bytes ${start}-${end}/${stat.size}` }),
    'Last-Modified': stat.mtime.toUTCString(),
    // A page that somebody put into a project must not act with the rights of this server's pages.
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
  };
  return new Response(await contentOf(handle, start, end), { status: part ? 206 : 200, headers });
}

/** The first and the last byte of a part. */
function partOf(range: string, size: number): { start: number; end: number } | undefined {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(range) ?? [];
  const start = Number(first);
  const end = last ? Math.min(Number(last), size - 1) : size - 1;
  return first !== undefined && start <= end ? { start, end } : undefined;
}

/** By the name's extension; text is taken for UTF-8. */
async function mediaType(path: string): Promise<string> {
  const { lookup } = await import('mime-types'); // 1,000 types, which a start need not read
  const type = lookup(extname(path)) || 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}

/** As many bytes as were announced, though the file may grow meanwhile. */
async function contentOf(handle: FileHandle, start: number, end: number): Promise<ReadableStream<Uint8Array> | null> {
  if (end >= start) return Readable.toWeb(handle.createReadStream({ start, end })) as ReadableStream<Uint8Array>;
  await handle.close();
  return null;
}

export interface Upload extends WriteOptions {
  content: AsyncIterable<Uint8Array> | null;
  signal: AbortSignal;
}

/**
 * Creates or replaces a file below `root` as a whole.
 * @throws Failure `forbidden`, `not-found`, `conflict` (a directory), `out-of-space`, `time-out` when the client leaves too early
 */
export async function uploadFile(root: string, path: string, { content, signal, ...options }: Upload): Promise<void> {
  try {
    await writeContained(root, path, content ?? '', options);
  } catch (thrown) {
    if (thrown instanceof Failure || !signal.aborted) throw thrown;
    throw new Failure('time-out', `${path}: the upload broke off; nothing was written.`, { cause: thrown });
  }
}
