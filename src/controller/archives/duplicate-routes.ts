// Duplicates projects over HTTP.
import { randomUUID } from 'node:crypto';
import { PROJECT_ROUTES } from '../../api/routes/projects.ts';
import type { Operations } from '../../events/operations.ts';
import { forbidden } from '../../failures.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { AccessList } from '../accounts/access-list.ts';
import { requireOwnPaths, type Sharing } from '../accounts/sharing.ts';
import type { Projects } from '../projects/projects.ts';
import type { Duplicates } from './duplicate.ts';

const { route } = routesOf(PROJECT_ROUTES);

export interface DuplicateRouteParts {
  projects: Projects;
  duplicates: Duplicates;
  sharing: Sharing;
  entries: AccessList;
  operations: Operations;
  /** Whether clients may name paths of this host. */
  local: boolean;
}

export function duplicateRoutes({
  projects,
  duplicates,
  sharing,
  entries,
  operations,
  local,
}: DuplicateRouteParts): Route[] {
  return [
    route(
      'POST /v2/projects/{project_id}/duplicate',
      async ({ params, headers, client, body: { name, path, reset_mac_addresses: resetMacAddresses } }) => {
        if (path && !local) throw forbidden('path: only a server in local mode (--local) takes paths of its own disk.');
        requireOwnPaths(client.identity, path);
        const project = await projects.settled(params.project_id);
        const id = randomUUID();
        const plan = { id, name: name ?? project.record.name, path: path ?? undefined, resetMacAddresses };
        const wanted = { kind: 'duplicate', name: plan.name, projectId: id, id: operationId(headers) };
        const work = () => operations.run(wanted, () => duplicates.duplicate(project, plan));
        const copy = await sharing.making(id, client.identity, work);
        // A copy that only a pool allows is in the pool, too.
        const { identity } = client;
        const isOwn = identity === undefined || identity.role === 'admin' || identity.role === 'user';
        for (const pool of isOwn ? [] : (entries.makes(identity, project.id)?.pools ?? []))
          await entries.addLab(pool, { id, name: copy.record.name });
        return copy.json();
      },
    ),
  ];
}
