// Deletes the files of a project, here and on its other computes (as in release 2.2.57).
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { conflict, type Failure, messageOf, systemCode } from '../../failures.ts';
import { exists } from '../../host/files/exists.ts';
import { removeTree } from '../../host/files/remove-tree.ts';
import { log } from '../../host/log.ts';
import type { DocumentChange } from '../../store/documents.ts';
import type { Store } from '../../store/store.ts';
import { readTopologyFile } from '../../store/topology/file.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { computesOf } from '../computes/of-topology.ts';
import type { Project } from '../lab/project.ts';
import { makeStaging } from '../staging.ts';

/** The other computes that have files of a project; for a closed one according to its topology. */
export async function remoteComputes(
  project: Project,
  { computes, version }: { computes: Computes; version: string },
): Promise<Compute[]> {
  if (project.state !== 'closed') return [...project.computes].filter(({ id }) => id !== 'local');
  const { path, filename } = project.record;
  const file = await readTopologyFile(join(path, filename), { version }).catch(() => undefined);
  return file ? [...computesOf(computes, file.topology).values()] : [];
}

/**
 * Deletes a project here, and then on these computes; those that are unreachable or refuse delete it when they are
 * back.
 * @throws the failure of `removeHere`; then the computes keep it
 */
export async function deleteEverywhere(
  { id, remoteChanges }: Project,
  remote: readonly Compute[],
  removeHere: () => Promise<void>,
): Promise<void> {
  using held = new DisposableStack();
  try {
    for (const compute of remote) held.use(await remoteChanges.deleting(compute, id));
    await removeHere();
  } catch (error) {
    for (const compute of remote) await remoteChanges.hosting(compute, id);
    throw error;
  }
  for (const compute of remote) await remoteChanges.delete(compute, id);
}

/** The documents that go with a lab: its sharing, its places in pools, and entries of the access list. */
export interface LabDocuments {
  /** @param remove deletes the lab and makes these changes, all or none */
  forgetting(projectId: string, remove: (changes: readonly DocumentChange[]) => Promise<void>): Promise<void>;
  /** Called when the lab is deleted and no longer listed. */
  gone(projectId: string): Promise<void>;
}

/**
 * Removes unlisted projects whose directory is missing.
 * @param root only those directly below it: a server killed during a deletion had removed only the directory, while
 * projects elsewhere may be on a disk that is not mounted
 */
export async function forgetDeleted(
  { projects, labs }: Store,
  { root, found, lost }: { root?: string; found: ReadonlySet<string>; lost: (projectId: string) => Promise<void> },
): Promise<void> {
  for (const { project_id: id, path } of await projects.list()) {
    if (found.has(id) || (root !== undefined && dirname(path) !== root) || (await labs.state(id)) !== undefined)
      continue;
    if (await exists(path)) continue;
    // Its sharing stays: the directory may be put back.
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
    if (systemCode(error) === 'EXDEV') await removeTree(path);
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
