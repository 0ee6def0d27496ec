// Lists and reads capture files: those on this host, and those of the project's links on other computes.
import { basename, dirname, join } from 'node:path';
import type { CaptureFileEntry } from '../../api/routes/links.ts';
import { listContained } from '../../host/files/contained-tree.ts';
import { downloadFile } from '../../http/app/files.ts';
import { CAPTURES_DIRECTORY, isPartOfRing } from '../../store/captures.ts';
import { refusalOf } from '../computes/answers.ts';
import type { Capture, Link } from './link.ts';

/**
 * Lists the capture files of the project in this directory with these links (none while closed): those of other hosts
 * first, then newest first.
 */
export async function captureFiles(directory: string, all: Iterable<Link>): Promise<CaptureFileEntry[]> {
  const captures = capturesOf(all);
  const here: CaptureFileEntry[] = [];
  const wanted = CAPTURES_DIRECTORY.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  for await (const { path, stat } of listContained(directory, (folder) => wanted.includes(folder))) {
    if (dirname(path) !== CAPTURES_DIRECTORY) continue;
    const name = basename(path);
    const found = captures.find(({ capture }) => isCapturedInto(capture, name));
    here.push({
      name,
      bytes: stat.size,
      modified: stat.mtime.toISOString(),
      link_id: found?.id ?? null,
      running: found?.capture.fileName === name && found.capture.end !== undefined,
      compute_id: 'local',
    });
  }
  here.sort((one, other) => (one.modified! < other.modified! ? 1 : one.modified! > other.modified! ? -1 : 0));
  const elsewhere = captures.flatMap(({ id, capture: { fileName: name, writer, end } }): CaptureFileEntry[] => {
    if (writer.id === 'local') return [];
    return [{ name, bytes: null, modified: null, link_id: id, running: end !== undefined, compute_id: writer.id }];
  });
  return [...elsewhere, ...here];
}

export interface WantedFile {
  projectId: string;
  /** The project's directory. */
  directory: string;
  /** The project's links while it is open. */
  links: Iterable<Link>;
  name: string;
  signal: AbortSignal;
}

/**
 * The present content of a capture file, from the host that writes it.
 * @throws Failure `not-found`, `forbidden` for a name that leads elsewhere; ComputeRefusal, ComputeUnreachable
 */
export async function captureFile({ projectId, directory, links, name, signal }: WantedFile): Promise<Response> {
  const found = capturesOf(links).find(({ capture }) => capture.fileName === name && capture.writer.id !== 'local');
  if (!found) return downloadFile(join(directory, CAPTURES_DIRECTORY), name);
  const path = pathAtCompute(projectId, name);
  const answer = await found.capture.writer.pass('GET', path, { signal, limit: 0 });
  if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), `GET ${path}`);
  const headers = { 'Content-Security-Policy': 'sandbox', 'X-Content-Type-Options': 'nosniff' };
  return new Response(answer.body, { headers: { ...Object.fromEntries(answer.headers), ...headers } });
}

/** The path of a capture file below `/v2/compute`. */
export function pathAtCompute(projectId: string, name: string): string {
  return `/projects/${projectId}/files/${CAPTURES_DIRECTORY}/${encodeURIComponent(name)}`;
}

function capturesOf(links: Iterable<Link>): { id: string; capture: Capture }[] {
  return [...links].flatMap(({ id, captures }) => captures.map((capture) => ({ id, capture })));
}

function isCapturedInto({ fileName, request, writer }: Capture, name: string): boolean {
  if (writer.id !== 'local') return false;
  return fileName === name || (request.ring_size !== undefined && isPartOfRing(fileName, name));
}
