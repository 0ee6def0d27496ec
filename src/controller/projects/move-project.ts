// Moves a closed project to another place. After a crash the next start finds it at one of both.
import { dirname } from 'node:path';
import { conflict, messageOf } from '../../failures.ts';
import { makeDirectory, removeEmptyDirectories } from '../../host/files/directories.ts';
import { disjointPaths } from '../../host/files/disjoint-paths.ts';
import { removeTree } from '../../host/files/remove-tree.ts';
import { log } from '../../host/log.ts';
import type { Projects as StoredProjects } from '../../store/projects.ts';
import type { Store } from '../../store/store.ts';
import type { Project } from '../lab/project.ts';
import { endStagings, moveFolder } from '../staging.ts';
import { mustBeVacant } from './project-paths.ts';
import { hasFile } from './scan.ts';

/**
 * Moves a project with all its files and returns its new directory. The caller records that; `undo` moves it back.
 * @throws Failure `conflict` for a project that is not closed, and for a taken place
 */
export async function moveProject(
  project: Project,
  target: string,
  store: Store,
  undo: AsyncDisposableStack,
): Promise<string> {
  const { record } = project;
  if (target === record.path) return target;
  if (project.state !== 'closed' || project.leftOpen || project.unended || project.damaged !== undefined) {
    const fix = project.damaged === undefined ? 'close it first' : 'correct its file first';
    throw conflict(`path: "${record.name}" cannot be moved as it is; ${fix}.`);
  }
  if (!(await disjointPaths(record.path, target))) {
    throw conflict('path: a project cannot be moved into itself, or to a folder around it.');
  }
  await mustBeVacant(target);
  undo.defer(() => store.makingRoom(() => store.projects.put(record)));
  await store.projects.put({ ...record, path: target, moving_from: record.path });
  const made = await makeDirectory(dirname(target));
  if (made !== undefined) undo.defer(() => removeEmptyDirectories(dirname(target), made));
  await moveFolder(record.path, target);
  undo.defer(() => moveFolder(target, record.path));
  return target;
}

/** Finishes interrupted moves: the project is where its file is; the rest elsewhere is removed. */
export async function settleMoves(projects: StoredProjects): Promise<void> {
  for (const { moving_from: from, ...record } of await projects.list()) {
    if (from === undefined) continue;
    try {
      if (await hasFile(record)) {
        await removeTree(from);
        await projects.put(record);
      } else if (await hasFile({ ...record, path: from })) await projects.put({ ...record, path: from });
      else continue; // perhaps on a disk that is not mounted
      await endStagings(dirname(record.path));
    } catch (error) {
      log.error('a project that was being moved when the server ended cannot be put in order', {
        project: record.project_id,
        error: messageOf(error),
      });
    }
  }
}
