// What a node takes of the host's disks: the files in its directory, and what its kind keeps elsewhere.
import { join } from 'node:path';
import { Failure } from '../../../failures.ts';
import { listContained } from '../../../host/files/contained-tree.ts';
import { type Node, nodeDirectory } from '../node.ts';

/** Nodes have some ten files; of one with thousands the largest are told. */
const MOST_FILES = 100;
/** Unit of `st_blocks` (stat(2)). */
const BLOCK_BYTES = 512;

export interface DiskUse {
  /** Bytes on the disk, all files together; a sparse file takes less than its size. */
  bytes: number;
  /** The largest on the disk first, a hundred of them at most. */
  files: { path: string; size: number; bytes: number }[];
}

/** @param module folder of the node's kind below `project-files`; a directory that is not there takes nothing */
export async function diskUse(node: Node, module: string): Promise<DiskUse> {
  const directory = join(node.project.path, nodeDirectory(module, node.id));
  const files: DiskUse['files'] = [];
  try {
    for await (const { path, stat } of listContained(directory)) {
      files.push({ path, size: stat.size, bytes: stat.blocks * BLOCK_BYTES });
    }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== 'not-found') throw thrown;
  }
  files.push(...(await node.filesElsewhere()));
  files.sort((one, other) => other.bytes - one.bytes || (one.path < other.path ? -1 : 1));
  return { bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files: files.slice(0, MOST_FILES) };
}
