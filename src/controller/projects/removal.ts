// Deletes the files of a project, here and on its other computes (as in release 2.2.57).
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { conflict, Failure, messageOf, systemCode } from '../../failures.ts';
import { exists } from '../../host/files/exists.ts';
import { log } from '../../host/log.ts';
import type { Store } from '../../store/store.ts';
import { readTopologyFile } from '../../store/topology/file.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { computesOf } from '../computes/of-topology.ts';
import { hostProject } from '../lab/hosting.ts';
import type { Project } from '../lab/project.ts';
import { makeStaging } from '../staging.ts';

/** The other computes that have files of a project; for a closed one according to its topology. */
async function remoteComputes(project: Project, computes: Computes, version: string): Promise<Compute[]> {
  if (project.state !== 'closed') return [...project.computes].filter(({ id }) => id !== 'local');
  const { path, filename } = project.record;
  const file = await readTopologyFile(join(path, filename), { version }).catch(() => undefined);
  return file ? [...computesOf(computes, file.topology).values()] : [];
}

/**
 * Deletes a project on its other computes; unreachable ones delete it when they are back. With `abandon` their errors
 * are ignored.
 * @throws Failure a compute's rejection
 */
export async function deleteOnComputes(
  project: Project,
  { computes, version, abandon }: { computes: Computes; version: string; abandon: boolean },
): Promise<void> {
  const remote = await remoteComputes(project, computes, version);
  const there: Compute[] = [];
  for (const compute of remote) {
    try {
      await compute.connect();
      there.push(compute);
    } catch (error) {
      log.warn('project: deleted on a host when that is back', {
        project: project.id,
        compute: compute.id,
        reason: messageOf(error),
      });
      await project.remoteChanges.deleted(compute, project.id);
      project.hosts.delete(compute);
    }
  }
  for (const compute of there) {
    try {
      // A compute must have the project before it can delete it; it does not have a closed one.
      await hostProject(project, compute);
      await compute.delete(`/projects/${project.id}`);
    } catch (error) {
      const gone = error instanceof Failure && error.code === 'not-found';
      if (!abandon && !gone) throw error;
    }
    project.hosts.delete(compute);
    await project.remoteChanges.left(compute, project.id);
  }
}

/**
 * Removes projects below `root` whose directory is missing: a server killed during a deletion had removed only that.
 * Projects elsewhere may be on a disk that is not mounted.
 */
export async function forgetDeleted(
  { projects, labs }: Store,
  { root, found, lost }: { root: string; found: ReadonlySet<string>; lost: (projectId: string) => Promise<void> },
): Promise<void> {
  for (const { project_id: id, path } of await projects.list()) {
    if (found.has(id) || dirname(path) !== root || (await labs.state(id)) !== undefined) continue;
    if (await exists(path)) continue;
    await lost(id);
    await projects.delete(id);
    log.info('a project without a directory is forgotten', { project: id, path });
  }
}

/**
 * Deletes the directory of a project below `root` and calls `forget`. The directory is first moved aside as a whole, so
 * that a failure never leaves half a project.
 * @throws Failure `conflict` when it cannot be removed. Then, and when `forget` fails, it is back in its place
 */
export async function removeFiles(path: string, root: string, forget: () => Promise<void>): Promise<void> {
  await using held = new AsyncDisposableStack();
  const aside = join(await makeStaging(root, held), 'deleted');
  try {
    await rename(path, aside);
  } catch (error) {
    if (systemCode(error) === 'EXDEV') await rm(path, { recursive: true, force: true });
    else if (systemCode(error) !== 'ENOENT') throw cannotRemove(path, error);
    return forget();
  }
  try {
    await forget();
  } catch (error) {
    // The staging folder is removed only after the project is back.
    const staging = held.move();
    await rename(aside, path);
    await staging.disposeAsync();
    throw error;
  }
}

function cannotRemove(path: string, error: unknown): Failure {
  const reason = systemCode(error) ?? messageOf(error);
  return conflict(`The directory ${path} cannot be removed (${reason}): check its permissions.`);
}
