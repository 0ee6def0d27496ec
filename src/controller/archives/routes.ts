// Archives over HTTP.
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as v from 'valibot';
import { PROJECT_ROUTES } from '../../api/routes/projects.ts';
import { requireName, Uuid } from '../../api/vocabulary.ts';
import type { Operations, Wanted } from '../../events/operations.ts';
import { conflict, Failure, timedOut } from '../../failures.ts';
import { within } from '../../host/values/progress.ts';
import { uploaded } from '../../http/app/forms.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { requireOwnPaths, type Sharing } from '../accounts/sharing.ts';
import type { Projects } from '../projects/projects.ts';
import { compressionOf } from './compression.ts';
import type { Exports } from './exporting.ts';
import type { Imports } from './importing.ts';

const { route } = routesOf(PROJECT_ROUTES);

export interface ArchiveRouteParts {
  projects: Projects;
  exports: Exports;
  imports: Imports;
  sharing: Sharing;
  operations: Operations;
}

export function archiveRoutes({ projects, exports, imports, sharing, operations }: ArchiveRouteParts): Route[] {
  return [
    route('GET /v2/projects/{project_id}/export', async ({ params, query, headers }) => {
      const project = await projects.settled(params.project_id);
      const compression = compressionOf(query);
      const options = {
        snapshots: isYes(query, 'include_snapshots'),
        images: isYes(query, 'include_images'),
        resetMacAddresses: isYes(query, 'reset_mac_addresses'),
        keepComputeIds: isYes(query, 'keep_compute_ids'),
        anyType: false,
      };
      // Browsers do not show why a download fails: the page asks for the reason alone first.
      if (isYes(query, 'check')) {
        await exports.check(project, options);
        return new Response(null, { status: 204 });
      }
      const wanted = { kind: 'export', name: project.record.name, projectId: project.id, id: operationId(headers) };
      const archive = await streamed(operations, wanted, () => exports.export(project, compression, options));
      return new Response(Readable.toWeb(archive) as ReadableStream<Uint8Array>, {
        headers: {
          'Content-Type': 'application/gns3project',
          'Content-Disposition': attachment(`${project.record.name}.gns3project`),
        },
      });
    }),

    route(
      'POST /v2/projects/{project_id}/import',
      async ({ params: { project_id: id }, query, headers, stream, signal, client }) => {
        if (!v.is(Uuid, id)) throw conflict(`project_id: "${id}" is not a UUID.`);
        const { name, path } = query;
        requireOwnPaths(client.identity, path);
        if (name !== undefined) requireName(name);
        const addsImages = client.identity === undefined || client.identity.role === 'admin';
        const resetMacAddresses = isYes(query, 'reset_mac_addresses');
        const length = Number(headers.get('content-length') ?? 0);
        const wanted = { kind: 'import', name: name ?? id, projectId: id, id: operationId(headers) };
        const arrival = { name, path, resetMacAddresses, addsImages, length, signal };
        const work = async () => imports.receive(id, uploaded(headers, stream), arrival);
        return (await sharing.making(id, client.identity, () => operations.run(wanted, work))).json();
      },
    ),
  ];
}

/** Runs an operation that lasts until its stream has been read. */
async function streamed(operations: Operations, wanted: Wanted, work: () => Promise<Readable>): Promise<Readable> {
  const operation = operations.begin(wanted);
  try {
    const stream = await within(operation, work);
    const leave = (): void => void stream.destroy(operation.signal.reason as Error);
    operation.signal.addEventListener('abort', leave);
    if (operation.signal.aborted) leave();
    const brokenOff = timedOut('The download broke off.');
    finished(stream).then(
      () => operation.end(),
      (error: unknown) => operation.end(error instanceof Failure ? error : brokenOff),
    );
    return stream;
  } catch (error) {
    throw operation.end(error);
  }
}

function isYes(query: Record<string, string>, name: string): boolean {
  return query[name]?.toLowerCase() === 'yes';
}

/** A header with the file name for all clients: in ASCII for old ones, and exactly. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${exact}`}`;
}
