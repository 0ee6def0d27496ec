// The files of a project's directory that archives leave out (as in release 2.2.57).
import { DISK_CHECKPOINT } from '../../api/disk-checkpoint.ts';

const FOLDERS = ['project-files/tmp', 'project-files/captures'];

/** Copies of a node's disks beside these. */
const CHECKPOINT = new RegExp(`^project-files/[^/]+/[^/]+/${DISK_CHECKPOINT}$`);

/** Whether a folder is left out with its content. `path` is relative to the project. */
export function isExcludedFolder(path: string, { snapshots }: { snapshots: boolean }): boolean {
  return FOLDERS.includes(path) || CHECKPOINT.test(path) || (!snapshots && path.split('/').includes('snapshots'));
}

/** Whether a file, link or empty folder is left out. */
export function isExcluded(path: string, { snapshots }: { snapshots: boolean }): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === '.DS_Store' || name.endsWith('_log.txt') || name.endsWith('.log')) return true;
  // Memory that running routers share: large, and recreated when needed.
  if (name.endsWith('.ghost')) return true;
  if (!snapshots && path.endsWith('snapshots')) return true;
  const folders = path.split('/').slice(0, -1);
  return folders.some((_part, index) => isExcludedFolder(folders.slice(0, index + 1).join('/'), { snapshots }));
}

/** The lab in a snapshot of 1.x, which is a folder. */
export function isLegacySnapshot(path: string): boolean {
  return /^project-files\/snapshots\/[^/]+\/[^/]+\.gns3$/.test(path);
}

/** Topology files: the archive has only the project's own, as `project.gns3`. */
export function isTopologyFile(path: string): boolean {
  return path.endsWith('.gns3');
}
