// Creates a project on a compute before its first node there.
import type { Compute } from '../computes/compute.ts';
import type { Project } from './project.ts';

/** Creates the project on the compute, once. */
export async function hostProject(project: Project, compute: Compute): Promise<void> {
  if (project.hosts.has(compute)) return;
  // Several nodes may be created there concurrently: they share the request.
  let telling = project.telling.get(compute);
  if (telling === undefined) {
    telling = tell(project, compute).finally(() => project.telling.delete(compute));
    project.telling.set(compute, telling);
  }
  await telling;
}

async function tell(project: Project, compute: Compute): Promise<void> {
  const { record } = project;
  const body: Record<string, unknown> = { name: record.name, project_id: record.project_id };
  if (compute.id === 'local') body['path'] = record.path;
  if (record.variables?.length) body['variables'] = record.variables;
  await project.remoteChanges.hosting(compute, project.id);
  // A compute that already has the project gives the same answer.
  await compute.retryOnce((connect) => compute.post('/projects', { body, connect }));
  project.hosts.add(compute);
}

/** The compute's entry in the topology file; `local` has none. */
export function computeEntry(compute: Compute): { compute: { compute_id: string } }[] {
  if (compute.id === 'local') return [];
  const { compute_id, name, protocol, host, port } = compute.description;
  return [{ compute: { compute_id, name, protocol, host, port } as { compute_id: string } }];
}
