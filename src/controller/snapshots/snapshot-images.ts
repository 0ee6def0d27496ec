// The images that the nodes of snapshots use. Each archive is read once.
import type { FileHandle } from 'node:fs/promises';
import { conflict, Failure, messageOf } from '../../failures.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { ArchiveReader } from '../../store/archive/reader.ts';
import { parseBeside } from '../../store/topology/parsing-thread.ts';
import { LINK_RULES } from '../archives/links.ts';
import { projectBytes } from '../archives/project-file.ts';
import type { Project } from '../lab/project.ts';
import { type NamedImages, namedBy, type SnapshotImages } from '../projects/image-users.ts';
import type { Snapshots } from './snapshots.ts';

interface Known {
  /** Another one means another content. */
  identity: string | undefined;
  /** Of a snapshot that cannot be restored: none. */
  named: Promise<readonly NamedImages[]>;
}

export class ImagesOfSnapshots {
  readonly #snapshots: Pick<Snapshots, 'list'>;
  /** By file. */
  readonly #known = new WeakMap<Project, Map<string, Known>>();

  constructor(snapshots: Pick<Snapshots, 'list'>) {
    this.#snapshots = snapshots;
  }

  /** @throws Failure `conflict` for a snapshot that cannot be read */
  async of(project: Project): Promise<SnapshotImages[]> {
    const known = this.#known.get(project) ?? new Map<string, Known>();
    this.#known.set(project, known);
    const list = await this.#snapshots.list(project);
    const files = new Set(list.map(({ file }) => file));
    for (const file of known.keys()) if (!files.has(file)) known.delete(file);
    const read: SnapshotImages[] = [];
    for (const { name, file, identity } of list) {
      const before = known.get(file);
      const isSame = identity !== undefined && before?.identity === identity;
      const now: Known = isSame ? before : { identity, named: imagesOf(project.record.path, file) };
      known.set(file, now);
      try {
        read.push({ name, named: await now.named });
      } catch (error) {
        // The next request tries again.
        if (known.get(file) === now) known.delete(file);
        // Deleted meanwhile.
        if (error instanceof Failure && error.code === 'not-found') continue;
        throw conflict(`its snapshot "${name}": ${messageOf(error)}`, { cause: error });
      }
    }
    return read;
  }
}

async function imagesOf(root: string, file: string): Promise<readonly NamedImages[]> {
  try {
    const { handle } = await openContainedForRead(root, file);
    await using archive = handle;
    return await namedIn(archive);
  } catch (error) {
    if (isRefused(error)) return [];
    throw error;
  }
}

/** Whether the file itself is at fault, so that a restore is refused, too: no error of the disk, no missing right. */
function isRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; { cause } = cause) if ('syscall' in cause) return false;
  return error instanceof Failure && ['conflict', 'forbidden', 'too-large'].includes(error.code);
}

async function namedIn(archive: FileHandle): Promise<NamedImages[]> {
  const reader = await ArchiveReader.open(archive, LINK_RULES);
  const { topology } = await parseBeside(await projectBytes(reader), {});
  const byCompute = Map.groupBy(topology.topology.nodes.map(namedBy), ({ compute }) => compute);
  return [...byCompute].map(([compute, all]) => ({
    compute,
    images: new Set(all.flatMap(({ images }) => [...images])),
  }));
}
