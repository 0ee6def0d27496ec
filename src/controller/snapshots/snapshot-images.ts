// The images that the nodes of snapshots use. Each archive is read once.
import type { FileHandle } from 'node:fs/promises';
import { conflict, Failure, messageOf } from '../../failures.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { ArchiveReader } from '../../store/archive/reader.ts';
import { parseBeside } from '../../store/topology/parsing-thread.ts';
import { isContainerFile } from '../archives/extraction.ts';
import { projectBytes } from '../archives/project-file.ts';
import type { Project } from '../lab/project.ts';
import { type NamedImages, namedBy, type SnapshotImages } from '../projects/image-users.ts';
import type { Snapshots } from './snapshots.ts';

interface Known extends SnapshotImages {
  /** Another one means another content. */
  identity: string;
}

export class ImagesOfSnapshots {
  readonly #snapshots: Pick<Snapshots, 'list'>;
  /** By file. */
  readonly #known = new WeakMap<Project, ReadonlyMap<string, Known>>();

  constructor(snapshots: Pick<Snapshots, 'list'>) {
    this.#snapshots = snapshots;
  }

  /** @throws Failure `conflict` for a snapshot that cannot be read */
  async of(project: Project): Promise<SnapshotImages[]> {
    const before = this.#known.get(project);
    const now = new Map<string, Known>();
    for (const { name, file } of await this.#snapshots.list(project)) {
      try {
        const { handle, stat } = await openContainedForRead(project.record.path, file);
        await using opened = handle;
        const identity = [stat.dev, stat.ino, stat.size, stat.mtimeMs].join();
        const known = before?.get(file);
        now.set(file, known?.identity === identity ? known : { identity, name, named: await namedIn(opened) });
      } catch (error) {
        // Deleted meanwhile.
        if (error instanceof Failure && error.code === 'not-found') continue;
        throw conflict(`its snapshot "${name}": ${messageOf(error)}`, { cause: error });
      }
    }
    this.#known.set(project, now);
    return [...now.values()];
  }
}

async function namedIn(archive: FileHandle): Promise<NamedImages[]> {
  const reader = await ArchiveReader.open(archive, { absoluteLinks: isContainerFile });
  const { topology } = await parseBeside(await projectBytes(reader), {});
  const byCompute = Map.groupBy(topology.topology.nodes.map(namedBy), ({ compute }) => compute);
  return [...byCompute].map(([compute, all]) => ({
    compute,
    images: new Set(all.flatMap(({ images }) => [...images])),
  }));
}
