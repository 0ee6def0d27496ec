// A node's disk use: the files in its directory, and its kind's files elsewhere.
import { join } from 'node:path';
import type { DiskUse } from '../../../api/routes/compute-nodes.ts';
import { Failure } from '../../../failures.ts';
import { listContained } from '../../../host/files/contained-tree.ts';
import { type Node, nodeDirectory } from '../node.ts';

/** Nodes have some ten files. If there are thousands only the largest are listed. */
const MOST_FILES = 100;
/** Unit of `st_blocks` (stat(2)). */
const BLOCK_BYTES = 512;

/** @param module folder of the node's kind below `project-files`; a missing directory counts as empty */
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
