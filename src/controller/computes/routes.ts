// Computes over HTTP, and requests passed on to them.
import { COMPUTE_ROUTES } from '../../api/routes/computes.ts';
import type { Operations } from '../../events/operations.ts';
import { forbidden, invalid } from '../../failures.ts';
import type { Identity } from '../../http/access/identity.ts';
import { partHeaders } from '../../http/app/files.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Sharing } from '../accounts/sharing.ts';
import type { IdlePcSearches } from '../projects/idle-pc.ts';
import type { ImageUsers, Sees } from '../projects/image-users.ts';
import { originOf } from './address.ts';
import { answerJson, mustBeList, refusalOf } from './answers.ts';
import type { Compute } from './compute.ts';
import type { Computes } from './computes.ts';
import { PASSED_ON_LIMIT_MS } from './limits.ts';

const { route } = routesOf(COMPUTE_ROUTES);

export interface ComputeRouteParts {
  computes: Computes;
  idlePc: IdlePcSearches;
  operations: Operations;
  imageUsers: ImageUsers;
  sharing: Sharing;
  /** Takes a host out of the cluster. */
  forget: (name: string) => Promise<void>;
}

export function computeRoutes(parts: ComputeRouteParts): Route[] {
  const { computes, idlePc, operations, imageUsers, sharing, forget } = parts;
  const imagesOf = async (compute: Compute, emulator: string, signal: AbortSignal) => {
    const path = pathTo(emulator, 'images');
    return mustBeList(await compute.get(path, { limit: PASSED_ON_LIMIT_MS, signal }), `GET ${path}`);
  };
  /** The images of a host; for `auto` those of all connected hosts, each name once, with the hosts that have the same. */
  const imagesAt = async (id: string, emulator: string, signal: AbortSignal) => {
    if (!computes.autoNamed(id)) return imagesOf(computes.get(id), emulator, signal);
    const hosts = computes
      .list()
      .filter(({ connected, capabilities }) => connected && capabilities.node_types.includes(emulator));
    const lists = await Promise.all(hosts.map((host) => imagesOf(host, emulator, signal)));
    const first = new Map<string, { computes: string[]; [member: string]: unknown }>();
    for (const [index, list] of lists.entries()) {
      for (const image of list) {
        const known = first.get(keyOf(image)) ?? { ...image, computes: [] };
        first.set(keyOf(image), known);
        if (known['md5sum'] === image['md5sum']) known.computes.push(hosts[index]!.id);
      }
    }
    return [...first.values()];
  };
  const seenBy =
    (identity: Identity | undefined): Sees =>
    (of) =>
      sharing.tells(identity, of);
  return [
    route('POST /v2/computes', async ({ body }) => (await computes.create(body)).json()),

    route('GET /v2/computes', () => {
      const auto = computes.auto();
      return [...computes.list().map((compute) => compute.json()), ...(auto ? [auto] : [])];
    }),

    route('GET /v2/computes/{compute_id}', ({ params }) => {
      const { compute_id: id } = params;
      return computes.autoNamed(id) ?? computes.get(id).json();
    }),

    route('PUT /v2/computes/{compute_id}', async ({ params, body }) =>
      (await computes.update(params.compute_id, body)).json(),
    ),

    route('DELETE /v2/computes/{compute_id}', async ({ params, query, client: { identity } }) => {
      const { compute_id: id } = params;
      const { forget: forgets } = query;
      // Entries of the access list open the rest of the route to others.
      if (forgets !== undefined && identity !== undefined && identity.role !== 'admin')
        throw forbidden('forget: only admins take hosts out of the cluster.');
      if (forgets !== undefined && forgets !== 'yes')
        throw invalid(`forget: expected yes, got "${forgets}"; leave it out to delete a compute.`);
      const member = forgets ? computes.memberNamed(id) : undefined;
      if (member) await forget(member.place?.name ?? member.name);
      // Its open labs are closed.
      await (member ? computes.forgetMember(id) : computes.delete(id));
    }),

    route('GET /v2/computes/{compute_id}/ports', async ({ params }) =>
      json(await computes.host(params.compute_id).get('/network/ports')),
    ),

    route('POST /v2/computes/{compute_id}/auto_idlepc', async ({ params, body, headers, signal }) => {
      const compute = computes.answering(params.compute_id);
      return operations.run({ kind: 'idlepc', name: body.image, id: operationId(headers) }, (operation) =>
        idlePc.run(compute, body, AbortSignal.any([signal, operation.signal])),
      );
    }),

    // Must precede the passed-on GET, which would match with an emulator called "endpoint".
    route('GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}', ({ params }) => {
      const { description } = computes.answering(params.compute_id);
      return { endpoint: `${originOf(description)}/v2/compute/${params.emulator}/${params.action}` };
    }),

    route('GET /v2/computes/{compute_id}/images', async ({ params, signal, client: { identity } }) => {
      const id = params.compute_id;
      const listed = await imageUsers.listed(id, (emulator) => imagesAt(id, emulator, signal));
      return listed.map((image) => ({ ...image, used_by: image.used_by.filter(seenBy(identity)) }));
    }),

    route(
      'DELETE /v2/computes/{compute_id}/{emulator}/images/{filename:.+}',
      async ({ params: { compute_id: id, emulator, filename }, client: { identity } }) => {
        const compute = computes.answering(id);
        (await imageUsers.of(id)).requireUnused('filename', emulator, filename, seenBy(identity));
        await compute.delete(pathTo(emulator, `images/${filename}`));
      },
    ),

    route('DELETE /v2/computes/{compute_id}/{emulator}/uploads/{upload_id}', async ({ params }) => {
      await computes.answering(params.compute_id).delete(pathTo(params.emulator, `uploads/${params.upload_id}`));
    }),

    route('GET /v2/computes/{compute_id}/{emulator}/images', async ({ params, signal }) => {
      const list = await imagesAt(params.compute_id, params.emulator, signal);
      return list.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    }),

    // Streamed, however large; the other passed-on answers are JSON of limited size.
    route(
      'GET /v2/computes/{compute_id}/{emulator}/images/{filename:.+}',
      async ({ params: { compute_id: id, emulator, filename }, headers: asked, signal }) => {
        const path = pathTo(emulator, `images/${filename}`);
        const options = { signal, limit: PASSED_ON_LIMIT_MS, headers: partHeaders(asked) };
        const answer = await computes.answering(id).pass('GET', path, options);
        if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), `GET ${path}`);
        const headers = new Headers(answer.headers);
        headers.set('Content-Type', 'application/octet-stream');
        return new Response(answer.body, { status: answer.status, headers });
      },
    ),

    route('GET /v2/computes/{compute_id}/{emulator}/{action:.+}', async ({ params, signal }) => {
      const path = pathTo(params.emulator, params.action);
      return json(await computes.answering(params.compute_id).get(path, { limit: PASSED_ON_LIMIT_MS, signal }));
    }),

    ...(['POST', 'PUT'] as const).map((method) =>
      route(`${method} /v2/computes/{compute_id}/{emulator}/{action:.+}`, async ({ params, stream, signal }) => {
        const path = pathTo(params.emulator, params.action);
        const options = { body: stream, signal, limit: PASSED_ON_LIMIT_MS };
        const answer = await computes.answering(params.compute_id).pass(method, path, options);
        return json(await answerJson(answer, `${method} ${path}`));
      }),
    ),
  ];
}

/** The name of an image in a list; Docker's are called differently. */
function keyOf(entry: Record<string, unknown>): string {
  return String(entry['filename'] ?? entry['image'] ?? '');
}

/** Turns an answer without body into an empty object. */
function json(value: unknown): object {
  return (value ?? {}) as object;
}

/** Encodes decoded parts of a path for the request to a compute. */
function pathTo(emulator: string, action: string): string {
  return `/${[emulator, ...action.split('/')].map(encodeURIComponent).join('/')}`;
}
