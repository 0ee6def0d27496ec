// Lists the files of a project with their checksums.
import type { FileDetails, ProjectFile } from '../../api/routes/compute.ts';
import { md5Of } from '../../host/files/checksum.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { listContained } from '../../host/files/contained-tree.ts';
import type { NodeProject } from '../nodes/owner.ts';

/** Checksums computed at the same time. */
const AT_ONCE = 4;
/** Dynamips' memory images: large, and created again when needed. */
const GHOST = '.ghost';

/** Every regular file of the project, sorted by path; unreadable ones are left out. */
export async function listFiles({ path: root }: NodeProject): Promise<ProjectFile[]> {
  const files: ProjectFile[] = [];
  const paths = listContained(root);
  const work = async (): Promise<void> => {
    // The workers share one generator, which returns each path once.
    for (let next = await paths.next(); !next.done; next = await paths.next()) {
      const { path } = next.value;
      if (path.endsWith(GHOST)) continue;
      const md5sum = await checksum(root, path);
      if (md5sum !== undefined) files.push({ path, md5sum });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The same files without their checksums, for which all of them would have to be read. */
export async function listDetails({ path: root }: NodeProject): Promise<FileDetails[]> {
  const files: FileDetails[] = [];
  for await (const { path, stat } of listContained(root))
    if (!path.endsWith(GHOST)) files.push({ path, size: stat.size, modified: stat.mtimeMs });
  return files;
}

async function checksum(root: string, path: string): Promise<string | undefined> {
  try {
    const { handle } = await openContainedForRead(root, path);
    await using file = handle;
    return await md5Of(file.fd);
  } catch {
    return undefined;
  }
}
