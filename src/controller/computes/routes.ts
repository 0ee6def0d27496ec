// Computes over HTTP, and calls passed on to them.
import { type Route, route } from '../../http/route.ts';
import type { IdlePcSearches } from '../projects/idle-pc.ts';
import { originOf } from './address.ts';
import { answerJson, mustBeList } from './answers.ts';
import type { Computes } from './computes.ts';
import { PASSED_ON_LIMIT_MS } from './limits.ts';
import { ComputeCreate, ComputeUpdate, IdlePcSearch } from './schema.ts';

export function computeRoutes(computes: Computes, idlePc: IdlePcSearches): Route[] {
  return [
    route('POST /v2/computes', { body: ComputeCreate, status: 201 }, async ({ body }) =>
      (await computes.create(body)).json(),
    ),

    route('GET /v2/computes', {}, () => computes.list().map((compute) => compute.json())),

    route('GET /v2/computes/{compute_id}', {}, ({ params }) => computes.get(params.compute_id).json()),

    route('PUT /v2/computes/{compute_id}', { body: ComputeUpdate }, async ({ params, body }) =>
      (await computes.update(params.compute_id, body)).json(),
    ),

    route('DELETE /v2/computes/{compute_id}', { status: 204 }, async ({ params }) => {
      await computes.delete(params.compute_id);
      return undefined;
    }),

    route('GET /v2/computes/{compute_id}/ports', {}, async ({ params }) =>
      json(await computes.get(params.compute_id).get('/network/ports')),
    ),

    route('POST /v2/computes/{compute_id}/auto_idlepc', { body: IdlePcSearch }, async ({ params, body, signal }) =>
      idlePc.run(computes.get(params.compute_id), body, signal),
    ),

    // Before the passed-on GET, which would take it for an emulator called "endpoint".
    route('GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}', { raw: true }, ({ params }) => {
      const { description } = computes.get(params.compute_id);
      return { endpoint: `${originOf(description)}/v2/compute/${params.emulator}/${params.action}` };
    }),

    route('GET /v2/computes/{compute_id}/{emulator}/images', {}, async ({ params, signal }) => {
      const path = pathTo(params.emulator, 'images');
      const answer = await computes.get(params.compute_id).get(path, { limit: PASSED_ON_LIMIT_MS, signal });
      const list = mustBeList(answer, `GET ${path}`);
      const key = (entry: Record<string, unknown>): string => String(entry['filename'] ?? entry['image'] ?? '');
      return list.sort((a, b) => (key(a) < key(b) ? -1 : 1));
    }),

    route('GET /v2/computes/{compute_id}/{emulator}/{action:.+}', {}, async ({ params, signal }) => {
      const path = pathTo(params.emulator, params.action);
      return json(await computes.get(params.compute_id).get(path, { limit: PASSED_ON_LIMIT_MS, signal }));
    }),

    ...(['POST', 'PUT'] as const).map((method) =>
      route(
        `${method} /v2/computes/{compute_id}/{emulator}/{action:.+}`,
        { raw: true },
        async ({ params, stream, signal }) => {
          const path = pathTo(params.emulator, params.action);
          const options = { body: stream, signal, limit: PASSED_ON_LIMIT_MS };
          const answer = await computes.get(params.compute_id).pass(method, path, options);
          return json(await answerJson(answer, `${method} ${path}`));
        },
      ),
    ),
  ];
}

/** An answer without body becomes an empty object. */
function json(value: unknown): object {
  return (value ?? {}) as object;
}

/** Decoded parts of a path as a compute wants them on the wire. */
function pathTo(emulator: string, action: string): string {
  return `/${[emulator, ...action.split('/')].map(encodeURIComponent).join('/')}`;
}
