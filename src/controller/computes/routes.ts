// Computes over HTTP, and calls passed on to them (interface of release 2.2.57, sections 5 and 23.1).
import { type Route, route } from '../../http/route.ts';
import { refusalOf } from './answers.ts';
import type { Compute } from './compute.ts';
import type { Computes } from './computes.ts';

export function computeRoutes(computes: Computes): Route[] {
  return [
    route('GET /v2/computes', {}, () => computes.list().map((compute) => compute.json())),
    route('GET /v2/computes/{compute_id}', {}, ({ params }) => computes.get(params.compute_id).json()),
    route('GET /v2/computes/{compute_id}/ports', {}, async ({ params }) =>
      json(await computes.get(params.compute_id).get('/network/ports')),
    ),
    // Before the passed-on GET, which would take it for an emulator called "endpoint".
    route('GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}', { raw: true }, ({ params }) => ({
      endpoint: `${baseUrl(computes.get(params.compute_id))}/${params.emulator}/${params.action}`,
    })),
    route('GET /v2/computes/{compute_id}/{emulator}/images', {}, async ({ params }) => {
      const list = (await computes.get(params.compute_id).get(`/${params.emulator}/images`)) as Record<
        string,
        string
      >[];
      const key = (entry: Record<string, string>): string => entry['filename'] ?? entry['image'] ?? '';
      return list.sort((a, b) => (key(a) < key(b) ? -1 : 1));
    }),
    route('GET /v2/computes/{compute_id}/{emulator}/{action:.+}', {}, async ({ params }) =>
      json(await computes.get(params.compute_id).get(`/${params.emulator}/${encoded(params.action)}`)),
    ),
    ...(['POST', 'PUT'] as const).map((method) =>
      route(
        `${method} /v2/computes/{compute_id}/{emulator}/{action:.+}`,
        { raw: true },
        async ({ params, stream, signal }) => {
          const path = `/${params.emulator}/${encoded(params.action)}`;
          const answer = await computes.get(params.compute_id).pass(method, path, { body: stream, signal });
          const text = await answer.text();
          if (answer.status >= 300) throw refusalOf(answer.status, text, `${method} ${path}`);
          return json(text === '' ? undefined : JSON.parse(text));
        },
      ),
    ),
  ];
}

/** An answer without body becomes an empty object. */
function json(value: unknown): object {
  return (value ?? {}) as object;
}

/** A decoded path as a compute wants it on the wire. */
function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function baseUrl({ description: { protocol, host, port } }: Compute): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${protocol}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/v2/compute`;
}
