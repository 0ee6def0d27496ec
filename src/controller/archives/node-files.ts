// Folders of nodes in a project's directory: project-files/<module>/<node_id>.
import { lstat, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Topology } from '../../api/topology.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import { namesIn } from '../../host/files/directories.ts';
import { removeTree } from '../../host/files/remove-tree.ts';
import type { Compute } from '../computes/compute.ts';
import { pushFolder } from '../computes/project-files.ts';

const FILES = 'project-files';

/** Names of the folders in `project-files`, one for each module. */
async function modules(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await namesIn(join(directory, FILES))) {
    if ((await lstat(join(directory, FILES, name))).isDirectory()) found.push(name);
  }
  return found;
}

/** Renames the folders of nodes to their new ids. */
export async function renameNodeFolders(directory: string, nodeIds: ReadonlyMap<string, string>): Promise<void> {
  for (const module of await modules(directory)) {
    const folder = join(directory, FILES, module);
    for (const name of await readdir(folder)) {
      const id = nodeIds.get(name);
      if (id === undefined) continue;
      await rename(join(folder, name), join(folder, id)).catch(throwFileFailure(`${FILES}/${module}/${name}`));
    }
  }
}

/** Moves the folders of nodes on other hosts to their computes, which have the project open. */
export async function moveNodeFolders(
  directory: string,
  { project_id: projectId, topology }: Topology,
  computes: ReadonlyMap<string, Compute>,
): Promise<void> {
  for (const { compute_id: computeId, node_id: id } of topology.nodes) {
    const compute = computes.get(computeId);
    if (compute === undefined || id === undefined) continue;
    for (const folder of await nodeFolders(directory, id)) {
      await pushFolder(compute, projectId, directory, folder);
      await removeTree(join(directory, folder));
    }
  }
}

/** The folders of a node, relative to the directory. */
export async function nodeFolders(directory: string, id: string): Promise<string[]> {
  const folders: string[] = [];
  for (const module of await modules(directory)) {
    if ((await namesIn(join(directory, FILES, module))).includes(id)) folders.push(`${FILES}/${module}/${id}`);
  }
  return folders;
}
