// Uploads and downloads files of a directory without holding them in memory.
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { Failure, timedOut } from '../../failures.ts';
import { openContainedForRead, type WriteOptions, writeContained } from '../../host/files/contained-files.ts';

/** Headers of a request that ask for a part of a file. */
const OF_PARTS = ['range', 'if-range'];

/** What a request has of these headers, to pass it on. */
export function partHeaders(asked: Headers): Record<string, string> {
  return Object.fromEntries([...asked].filter(([name]) => OF_PARTS.includes(name)));
}

/**
 * Serves a file below `root`; its media type follows from its name.
 * @param asked the request's headers: `Range` (RFC 9110, section 14.2) may be `bytes=N-` or `bytes=N-M`, and counts only if `If-Range`
 *   (section 13.1.5) is missing or the file's tag; otherwise the whole file is sent
 * @throws Failure `forbidden`, `not-found`, `conflict` (a directory)
 */
export async function downloadFile(root: string, path: string, asked = new Headers()): Promise<Response> {
  const { handle, stat } = await openContainedForRead(root, path);
  const tag = `"${stat.mtimeMs.toString(36)}-${stat.size.toString(36)}"`;
  const isSame = (asked.get('if-range') ?? tag) === tag;
  const part = isSame ? partOf(asked.get('range') ?? '', stat.size) : undefined;
  const { start, end } = part ?? { start: 0, end: stat.size - 1 };
  const headers = {
    'Content-Type': await mediaType(path),
    'Content-Length': String(end - start + 1),
    'Accept-Ranges': 'bytes',
    ...(part && { 'Content-Range': `bytes ${start}-${end}/${stat.size}` }),
    'Last-Modified': stat.mtime.toUTCString(),
    ETag: tag,
    // A page stored in a project must not get the rights of this server's pages.
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
  };
  return new Response(await contentOf(handle, start, end), { status: part ? 206 : 200, headers });
}

/** First and last byte of the range. */
function partOf(range: string, size: number): { start: number; end: number } | undefined {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(range) ?? [];
  const start = Number(first);
  const end = last ? Math.min(Number(last), size - 1) : size - 1;
  return first !== undefined && start <= end ? { start, end } : undefined;
}

/** By the name's extension; text is assumed to be UTF-8. */
async function mediaType(path: string): Promise<string> {
  const { lookup } = await import('mime-types'); // 1,000 types, not needed at the start
  const type = lookup(extname(path)) || 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}

/** Exactly the announced number of bytes, even if the file grows. */
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
 * Creates or replaces a whole file below `root`.
 * @throws Failure `forbidden`, `not-found`, `conflict` (a directory), `out-of-space`, `time-out` if the client disconnects early
 */
export async function uploadFile(root: string, path: string, { content, signal, ...options }: Upload): Promise<void> {
  try {
    await writeContained(root, path, content ?? '', options);
  } catch (thrown) {
    if (thrown instanceof Failure || !signal.aborted) throw thrown;
    throw timedOut(`${path}: the upload broke off; nothing was written.`, { cause: thrown });
  }
}
