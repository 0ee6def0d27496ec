// Reads and writes a project's files on other computes through their file routes (as in release 2.2.57).
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { conflict } from '../../failures.ts';
import { walkContained } from '../../host/files/contained-tree.ts';
import { isBelow } from '../../host/files/relative-path.ts';
import { refusalOf } from './answers.ts';
import type { Compute } from './compute.ts';

/** Milliseconds; the release's compute calculates a checksum of every file for the list. */
const LIST_LIMIT_MS = 600_000;

/** Paths of the project's files there. */
export async function remoteFiles(compute: Compute, projectId: string): Promise<string[]> {
  const list = await compute.get(`/projects/${projectId}/files`, { limit: LIST_LIMIT_MS });
  if (Array.isArray(list)) return list.map((entry) => String((entry as { path?: unknown }).path));
  throw conflict(`The compute ${compute.description.name} does not list the files of the project.`);
}

/** A file of a compute; undefined if it is missing. `path` is below /v2/compute. */
export async function fetchFile(compute: Compute, path: string): Promise<Readable | undefined> {
  const answer = await compute.pass('GET', path);
  if (answer.status >= 300) {
    const text = await answer.text();
    if (answer.status === 404) return undefined;
    throw refusalOf(answer.status, text, `GET ${path}`);
  }
  return answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body as WebStream<Uint8Array>);
}

export function filePath(projectId: string, path: string): string {
  return `/projects/${projectId}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** Sends the files of a project's folder; `folder` is relative to `root`. Links are not sent. */
export async function pushFolder(compute: Compute, projectId: string, root: string, folder: string): Promise<void> {
  for await (const entry of walkContained(`${root}/${folder}`)) {
    if (entry.kind !== 'file') continue;
    const { handle } = await entry.open();
    // If the upload is rejected, nothing may have read and closed the file.
    await using opened = handle;
    await sendFile(
      compute,
      filePath(projectId, `${folder}/${entry.path}`),
      opened.createReadStream({ autoClose: false }),
    );
  }
}

/**
 * Copies the files of a project's folder from one compute to another; both have the project open. Links are not copied.
 * @param placeOf the path there of a file; undefined for one that is left out
 */
export async function copyFolder(
  from: Compute,
  to: Compute,
  { projectId, folder, placeOf }: { projectId: string; folder: string; placeOf: (path: string) => string | undefined },
): Promise<void> {
  for (const path of await remoteFiles(from, projectId)) {
    const place = isBelow(`/${folder}`, `/${path}`) ? placeOf(path) : undefined;
    if (place === undefined) continue;
    const content = await fetchFile(from, filePath(projectId, path));
    if (content) await sendFile(to, filePath(projectId, place), content);
  }
}

/** Sends a file; `path` is below /v2/compute. */
export async function sendFile(compute: Compute, path: string, content: Readable): Promise<void> {
  const body = Readable.toWeb(content) as ReadableStream<Uint8Array>;
  const answer = await compute.pass('POST', path, { body });
  const text = await answer.text();
  if (answer.status >= 300) throw refusalOf(answer.status, text, `POST ${path}`);
}
