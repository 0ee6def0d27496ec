// Files of a directory over HTTP, both ways, never held in memory.
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { Failure } from '../failures.ts';
import { openContainedForRead, type WriteOptions, writeContained } from '../host/contained.ts';

/**
 * A file below `root` as a response; its type follows from its name.
 * @throws Failure `forbidden`, `not-found`, `conflict` (a directory)
 */
export async function downloadFile(root: string, path: string): Promise<Response> {
  const { handle, stat } = await openContainedForRead(root, path);
  const headers = {
    'Content-Type': await mediaType(path),
    'Content-Length': String(stat.size),
    'Last-Modified': stat.mtime.toUTCString(),
    // A page that somebody put into a project must not act with the rights of this server's pages.
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
  };
  return new Response(await contentOf(handle, stat.size), { headers });
}

/** By the name's extension; text is taken for UTF-8. */
async function mediaType(path: string): Promise<string> {
  const { lookup } = await import('mime-types'); // 1,000 types, which a start need not read
  const type = lookup(extname(path)) || 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}

/** As many bytes as were announced, though the file may grow meanwhile. */
async function contentOf(handle: FileHandle, size: number): Promise<ReadableStream<Uint8Array> | null> {
  if (size > 0) return Readable.toWeb(handle.createReadStream({ end: size - 1 })) as ReadableStream<Uint8Array>;
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
