// Creates a project on a compute: before its first node there, or meanwhile for its files.
import { ignore } from '../../failures.ts';
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

/**
 * Lets the files of a project be read on the compute. A closed project is open there until `held` is disposed of, unless
 * others still read it there or the lab was opened. A lab may be opened as soon as its queue lets others in: dispose of
 * `held` in a change of the project.
 */
export async function hostMeanwhile(project: Project, compute: Compute, held: AsyncDisposableStack): Promise<void> {
  if (project.isOpen) return hostProject(project, compute);
  const { readers } = project;
  readers.set(compute, (readers.get(compute) ?? 0) + 1);
  held.defer(async () => {
    const others = (readers.get(compute) ?? 1) - 1;
    readers.set(compute, others);
    if (others === 0 && !project.isOpen) await closeOn(compute, project.id);
  });
  await compute.post('/projects', { body: { name: project.record.name, project_id: project.id } });
}

/** Opens a project that is not here yet on the compute; it is closed again when `held` is disposed of. */
export async function hostNew(
  { id, name }: { id: string; name: string },
  compute: Compute,
  held: AsyncDisposableStack,
): Promise<void> {
  await compute.post('/projects', { body: { name, project_id: id } });
  held.defer(() => closeOn(compute, id));
}

async function closeOn(compute: Compute, projectId: string): Promise<void> {
  await compute.post(`/projects/${projectId}/close`, { connect: false }).catch(ignore);
}

/** The compute's entry in the topology file; `local` has none. */
export function computeEntry(compute: Compute): { compute: { compute_id: string } }[] {
  if (compute.id === 'local') return [];
  const { compute_id, name, protocol, host, port } = compute.description;
  return [{ compute: { compute_id, name, protocol, host, port } as { compute_id: string } }];
}
