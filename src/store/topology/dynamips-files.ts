// Moves dynamips files from the shared folder to one folder per node (revision 6 to 7).
import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict } from '../../failures.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import type { DynamipsFiles } from './upgrade.ts';

/**
 * Moves `project-files/dynamips/*_i<id>_*` into `project-files/dynamips/<node_id>/` and
 * `project-files/dynamips/configs/i<id>_*` into `<node_id>/configs/`. May be repeated after an interruption.
 * `Failure('conflict')` if a folder is a link, which could lead outside the project.
 */
export async function moveDynamipsFiles(projectDirectory: string, nodes: readonly DynamipsFiles[]): Promise<void> {
  const shared = join(projectDirectory, 'project-files', 'dynamips');
  const configs = join(shared, 'configs');
  if (nodes.length === 0 || !(await isFolder(join(projectDirectory, 'project-files'))) || !(await isFolder(shared)))
    return;
  const names = await readdir(shared);
  const configNames = (await isFolder(configs)) ? await readdir(configs) : [];
  for (const { nodeId, dynamipsId } of nodes) {
    const own = join(shared, nodeId);
    await moveAll(
      shared,
      own,
      names.filter((name) => name.includes(`_i${dynamipsId}_`)),
    );
    const ownConfigs = configNames.filter((name) => name.startsWith(`i${dynamipsId}_`));
    if (ownConfigs.length > 0) await makeFolder(own);
    await moveAll(configs, join(own, 'configs'), ownConfigs);
  }
}

async function moveAll(from: string, to: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await makeFolder(to);
  for (const name of names) {
    await rename(join(from, name), join(to, name)).catch(throwFileFailure(join(from, name)));
  }
}

async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  await mkdir(path).catch(throwFileFailure(path));
}

async function isFolder(path: string): Promise<boolean> {
  const status = await lstat(path).catch(() => undefined);
  if (status?.isSymbolicLink()) throw conflict(`${path}: it is a symbolic link; put a folder in its place`);
  return status?.isDirectory() ?? false;
}
