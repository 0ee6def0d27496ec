// The files of a project over HTTP: listed with checksums, read and written as streams, never held in memory.
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { getMimeType } from 'hono/utils/mime';
import { Failure } from '../../failures.ts';
import { listContained, openContainedForRead, writeContained } from '../../host/contained.ts';
import type { NodeProject } from '../nodes/owner.ts';

export interface ProjectFile {
  /** Relative to the project's directory, with `/` between its parts. */
  path: string;
  /** Of the content, in hexadecimal. */
  md5sum: string;
}

/** Files whose checksums are made at the same time. */
const AT_ONCE = 4;
/** Dynamips' memory images: large, and made anew whenever they are needed. */
const GHOST = '.ghost';

/** Every regular file of the project, sorted by path; what cannot be read is left out. */
export async function listFiles({ path: root }: NodeProject): Promise<ProjectFile[]> {
  const files: ProjectFile[] = [];
  const paths = listContained(root);
  const work = async (): Promise<void> => {
    // The workers share one generator, which hands out each path once.
    for (let next = await paths.next(); !next.done; next = await paths.next()) {
      const { path } = next.value;
      if (path.endsWith(GHOST)) continue;
      const md5sum = await checksum(root, path);
      if (md5sum !== undefined) files.push({ path, md5sum });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function checksum(root: string, path: string): Promise<string | undefined> {
  try {
    const { handle } = await openContainedForRead(root, path);
    const hash = createHash('md5');
    for await (const chunk of handle.createReadStream()) hash.update(chunk as Buffer);
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}

/**
 * The file as a response.
 * @throws Failure `forbidden`, `not-found`, `conflict` (a directory)
 */
export async function downloadFile({ path: root }: NodeProject, path: string): Promise<Response> {
  const { handle, stat } = await openContainedForRead(root, path);
  const headers = {
    'Content-Type': getMimeType(path) ?? 'application/octet-stream',
    'Content-Length': String(stat.size),
    'Last-Modified': stat.mtime.toUTCString(),
    // A page that somebody put into a project must not act with the rights of this server's pages.
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
  };
  return new Response(await contentOf(handle, stat.size), { headers });
}

/** As many bytes as were announced, though the file may grow meanwhile. */
async function contentOf(handle: FileHandle, size: number): Promise<ReadableStream<Uint8Array> | null> {
  if (size > 0) return Readable.toWeb(handle.createReadStream({ end: size - 1 })) as ReadableStream<Uint8Array>;
  await handle.close();
  return null;
}

/**
 * Creates or replaces a file as a whole, with the directories that it needs.
 * @throws Failure `forbidden`, `conflict` (a directory), `out-of-space`, `time-out` when the client leaves too early
 */
export async function uploadFile(
  { path: root }: NodeProject,
  path: string,
  content: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): Promise<void> {
  try {
    await writeContained(root, path, content ?? '', { createParents: true });
  } catch (thrown) {
    if (thrown instanceof Failure || !signal.aborted) throw thrown;
    throw new Failure('time-out', `${path}: the upload broke off; nothing was written.`, { cause: thrown });
  }
}
