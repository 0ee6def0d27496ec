// Archives over HTTP.
import { Readable } from 'node:stream';
import * as v from 'valibot';
import { Failure } from '../../failures.ts';
import { uploaded } from '../../http/forms.ts';
import { type Route, route } from '../../http/route.ts';
import type { Compression } from '../../store/archive/writer.ts';
import { Uuid } from '../../store/vocabulary.ts';
import type { Projects } from '../projects/projects.ts';
import type { Exports } from './exporting.ts';
import type { Imports } from './importing.ts';

const COMPRESSIONS: Record<string, Compression> = { zip: 'deflated', none: 'stored' };

export interface ArchiveRouteParts {
  projects: Projects;
  exports: Exports;
  imports: Imports;
}

export function archiveRoutes({ projects, exports, imports }: ArchiveRouteParts): Route[] {
  return [
    route('GET /v2/projects/{project_id}/export', { raw: true }, async ({ params, query }) => {
      const project = await projects.settled(params.project_id);
      const archive = await exports.export(project, compressionOf(query), {
        snapshots: isYes(query, 'include_snapshots'),
        images: isYes(query, 'include_images'),
        resetMacAddresses: isYes(query, 'reset_mac_addresses'),
        keepComputeIds: isYes(query, 'keep_compute_ids'),
        anyType: false,
      });
      return new Response(Readable.toWeb(archive) as ReadableStream<Uint8Array>, {
        headers: {
          'Content-Type': 'application/gns3project',
          'Content-Disposition': attachment(`${project.record.name}.gns3project`),
        },
      });
    }),

    route(
      'POST /v2/projects/{project_id}/import',
      { raw: true, status: 201 },
      async ({ params: { project_id: id }, query: { name, path }, headers, stream, signal }) => {
        if (!v.is(Uuid, id)) throw new Failure('conflict', `project_id: "${id}" is not a UUID.`);
        return (await imports.receive(id, uploaded(headers, stream), { name, path, signal })).json();
      },
    ),
  ];
}

function compressionOf({ compression = 'zip' }: Record<string, string>): Compression {
  const known = COMPRESSIONS[compression.toLowerCase()];
  if (known) return known;
  throw new Failure('invalid', `compression: "${compression}" is not supported; use "zip" or "none".`);
}

function isYes(query: Record<string, string>, name: string): boolean {
  return query[name]?.toLowerCase() === 'yes';
}

/** A file name for every client: as ASCII text for old ones, and as it is. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${exact}`}`;
}
