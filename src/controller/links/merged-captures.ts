// Merges the captures of a project into one file, with each link as a named interface.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type MergedCapture, mergedCapture } from '../../fabric/capture-merge.ts';
import type { CaptureBytes } from '../../fabric/capture-records.ts';
import { conflict, ignoreNotFound, notFound } from '../../failures.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { CAPTURES_DIRECTORY, isPartOfRing } from '../../store/captures.ts';
import { refusalOf } from '../computes/answers.ts';
import { pathAtCompute, type WantedFile } from './capture-files.ts';
import type { Capture, Link } from './link.ts';

const NOTHING = new Uint8Array(0);

/** The captured links to merge, in order: all or the given ones. @throws Failure */
export function capturedLinks(all: readonly Link[], wanted: string | undefined): Link[] {
  const found = all.filter(({ captures }) => captures.length > 0);
  if (wanted === undefined) {
    if (found.length > 0) return found;
    throw conflict('No link of this lab has been captured since it was opened.');
  }
  return [...new Set(wanted.split(','))].map((id) => {
    const link = found.find((each) => each.id === id);
    if (link) return link;
    throw all.some((each) => each.id === id)
      ? conflict(`links: ${id} has not been captured since the lab was opened.`)
      : notFound(`links: the lab has no link ${id}.`);
  });
}

/**
 * The present content of these links' captures, ordered by time. It is streamed, never in memory as a whole.
 * @throws Failure, ComputeRefusal, ComputeUnreachable if a file cannot be read at the start; later the answer breaks
 * off
 */
export async function mergedCaptures(
  links: readonly Link[],
  place: Pick<WantedFile, 'projectId' | 'directory' | 'signal'>,
): Promise<Response> {
  const merged = mergedCapture(
    await Promise.all(
      links.map(async (link) => ({
        name: nameOf(link),
        files: (await Promise.all(link.captures.map((capture) => filesOf(capture, place)))).flat(),
      })),
    ),
  );
  const first = await merged.next();
  const whole = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      if (!first.done) yield first.value;
      yield* merged;
    } finally {
      await merged.return();
    }
  };
  return new Response(Readable.toWeb(Readable.from(whole())) as ReadableStream<Uint8Array>, {
    headers: { 'Content-Type': 'application/x-pcapng' },
  });
}

/** `PC1 Ethernet0 to Hub Ethernet3`: unique among links. */
function nameOf({ ends }: Link): string {
  return ends.map(({ node, port }) => `${node.name} ${port.name}`).join(' to ');
}

async function filesOf(
  { fileName, request, writer }: Capture,
  { projectId, directory, signal }: Pick<WantedFile, 'projectId' | 'directory' | 'signal'>,
): Promise<MergedCapture['files']> {
  if (writer.id !== 'local') return [async () => remoteBytes(writer, pathAtCompute(projectId, fileName), signal)];
  const root = join(directory, CAPTURES_DIRECTORY);
  if (request.ring_size === undefined) return [() => localBytes(root, fileName)];
  // The file being written may be renamed to a number meanwhile: it is opened first, and not read twice.
  const newest = await localBytes(root, fileName);
  const parts = (await readdir(root)).filter((name) => isPartOfRing(fileName, name));
  const inOrder = parts.sort((one, other) => one.length - other.length || (one < other ? -1 : 1));
  return [...inOrder.map((name) => () => localBytes(root, name, newest?.inode)), async () => newest];
}

/** The present content of a file on this host; undefined if it is gone or excluded by its inode `but`. */
async function localBytes(
  root: string,
  name: string,
  but?: number,
): Promise<(CaptureBytes & { inode: number }) | undefined> {
  const opened = await openContainedForRead(root, name).catch(ignoreNotFound);
  if (!opened) return undefined;
  const { handle, stat } = opened;
  if (stat.ino === but) {
    await handle.close();
    return undefined;
  }
  let at = 0;
  return {
    inode: stat.ino,
    read: async (target, offset) => {
      const { bytesRead } = await handle.read(target, offset, Math.min(target.length - offset, stat.size - at), at);
      at += bytesRead;
      return bytesRead;
    },
    close: () => handle.close(),
  };
}

/**
 * The present content of a file on another host, one request per piece, so that no connection idles while other files
 * are read. A compute of the release sends the whole file to the first request, which is then read as needed.
 */
async function remoteBytes(compute: Capture['writer'], path: string, signal: AbortSignal): Promise<CaptureBytes> {
  let at = 0;
  let size = Number.POSITIVE_INFINITY;
  let rest: Uint8Array = NOTHING;
  /** The whole file, from a compute without range requests. */
  let whole: AsyncIterator<Uint8Array> | undefined;
  const more = async (count: number): Promise<Uint8Array> => {
    if (whole) return (await whole.next()).value ?? NOTHING;
    const end = Math.min(size, at + count);
    if (end <= at) return NOTHING;
    const answer = await compute.pass('GET', path, { headers: { range: `bytes=${at}-${end - 1}` }, signal });
    // As on this host, a deleted file has no frames.
    if (answer.status === 404 && at === 0) return NOTHING;
    if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), `GET ${path}`);
    if (answer.status !== 206) {
      whole = answer.body?.[Symbol.asyncIterator]();
      size = 0;
      return more(count);
    }
    size = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1] ?? 0);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    at += bytes.length;
    return bytes;
  };
  return {
    read: async (target, offset) => {
      if (rest.length === 0) rest = await more(target.length - offset);
      const count = Math.min(rest.length, target.length - offset);
      target.set(rest.subarray(0, count), offset);
      rest = rest.subarray(count);
      return count;
    },
    close: async () => void (await whole?.return?.()),
  };
}
