// Long operations of this controller and its computes over HTTP, in one list. An extension of the release's API.

import type { OperationObject } from '../../api/objects.ts';
import { SERVER_ROUTES } from '../../api/routes/server.ts';
import type { Operations } from '../../events/operations.ts';
import { Failure, forbidden, notFound } from '../../failures.ts';
import type { Identity } from '../../http/access/identity.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Sharing } from '../accounts/sharing.ts';
import { mustBeList } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';

const { route } = routesOf(SERVER_ROUTES);

/** Time limit (ms) for a compute. */
const LIMIT_MS = 5_000;

export function operationRoutes(operations: Operations, computes: Computes, sharing: Sharing): Route[] {
  /** Only admins may end operations without a lab. @throws Failure */
  const requireChange = (identity: Identity | undefined, id: string, project: string | null): void => {
    if (identity === undefined || identity.role === 'admin') return;
    if (project !== null && !sharing.sees(identity, project)) throw noOperation(id);
    if (project === null || !sharing.changes(identity, project))
      throw forbidden(
        'operation_id: this operation belongs to another account; accounts that may change its lab can end it.',
      );
  };
  return [
    route('GET /v2/operations', async ({ query, client: { identity } }) => {
      const lists = await Promise.all(computes.list().map(operationsOf));
      const all = [
        ...operations.list().map((operation) => ({ ...operation, compute_id: null })),
        ...lists.flat(),
      ].filter((operation) => sharing.tells(identity, operation));
      const { project_id: project } = query;
      return project === undefined ? all : all.filter(({ project_id }) => project_id === project);
    }),

    route('DELETE /v2/operations/{operation_id}', async ({ params: { operation_id: id }, client }) => {
      const own = operations.list().find((operation) => operation.operation_id === id);
      if (own) requireChange(client.identity, id, own.project_id);
      if (operations.cancel(id)) return undefined;
      for (const compute of computes.list()) {
        const found = (await operationsOf(compute)).find((operation) => operation['operation_id'] === id);
        if (!found) continue;
        requireChange(client.identity, id, found.project_id);
        await compute.delete(`/operations/${id}`, { connect: false });
        return;
      }
      throw noOperation(id);
    }),
  ];
}

function noOperation(id: string): Failure {
  return notFound(`operation_id: there is no operation ${id}; it may have ended.`);
}

/** The operations of a connected compute; other computes have no such list. */
async function operationsOf(
  compute: Compute,
): Promise<(Record<string, unknown> & Pick<OperationObject, 'project_id'>)[]> {
  if (!compute.connected) return [];
  try {
    const call = '/operations';
    const list = mustBeList(await compute.get(call, { connect: false, limit: LIMIT_MS }), `GET ${call}`);
    return list.map((operation) => ({
      ...operation,
      project_id: typeof operation['project_id'] === 'string' ? operation['project_id'] : null,
      compute_id: compute.id,
    }));
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}
