// Creates, lists, deletes and restores snapshots. The files are the only record of them.
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotCreate } from '../../api/routes/snapshots.ts';
import { conflict, notFound } from '../../failures.ts';
import { removeContained, writeContained } from '../../host/files/contained-files.ts';
import { namesIn } from '../../host/files/directories.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { ongoing } from '../../host/values/progress.ts';
import { writeBlockArchive } from '../../store/archive/block-archive.ts';
import { type Exports, refuseRunning } from '../archives/exporting.ts';
import { SNAPSHOTS } from '../archives/repacking.ts';
import { asConflict } from '../copying.ts';
import type { Announcer } from '../events.ts';
import { NODES_AT_REST, PRESENCE } from '../lab/claims.ts';
import type { Project } from '../lab/project.ts';
import type { Restores } from './restoring.ts';
import { keepRunning } from './running.ts';
import { isIdOf, type Snapshot, snapshotFileName, snapshotJson, snapshotOf } from './snapshot.ts';

export interface SnapshotsOptions {
  exports: Exports;
  restores: Restores;
  announcer: Announcer;
}

interface ListedSnapshot extends Snapshot {
  /** Changes with the content. Undefined for a link, whose target changes by itself. */
  identity: string | undefined;
}

function identityOf(status: Stats): string | undefined {
  const { dev, ino, size, mtimeMs, ctimeMs } = status;
  return status.isSymbolicLink() ? undefined : [dev, ino, size, mtimeMs, ctimeMs].join();
}

export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #lock = new KeyedLock();

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /** Oldest first; those of the same second by name. */
  async list({ id, record }: Project): Promise<ListedSnapshot[]> {
    const folder = join(record.path, SNAPSHOTS);
    const found = (await namesIn(folder)).map(async (fileName) => {
      const status = await lstat(join(folder, fileName)).catch(() => undefined);
      const snapshot = status && snapshotOf(id, fileName, status.mtimeMs);
      return snapshot && { ...snapshot, identity: identityOf(status) };
    });
    return (await Promise.all(found))
      .filter((snapshot) => snapshot !== undefined)
      .sort((a, b) => a.created_at - b.created_at || (a.name < b.name ? -1 : 1));
  }

  async #get(project: Project, id: string): Promise<Snapshot> {
    const snapshot = (await this.list(project)).find((candidate) => isIdOf(id, candidate));
    if (snapshot) return snapshot;
    throw notFound(`snapshot_id: the lab "${project.record.name}" has no snapshot ${id}.`);
  }

  /**
   * Saves the present lab.
   * @throws Failure `forbidden` for a closed project, `conflict` for a taken name and, unless `running`, running nodes
   */
  async create(project: Project, wanted: SnapshotCreate): Promise<Snapshot> {
    project.requireOpen();
    return this.#lock.run(project.id, () => project.changes.run(NODES_AT_REST, () => this.#createNow(project, wanted)));
  }

  async #createNow(project: Project, { name, running }: SnapshotCreate): Promise<Snapshot> {
    project.requireOpen();
    const isTaken = (await this.list(project)).some((snapshot) => snapshot.name === name);
    if (isTaken) throw conflict(`name: there is already a snapshot "${name}"; choose another name.`);
    if (!running) refuseRunning(project);
    const fileName = snapshotFileName(name, new Date());
    await using kept = new AsyncDisposableStack();
    ongoing().check();
    const statuses = running ? await keepRunning(project, kept) : undefined;
    const fill = await this.#options.exports.prepare(project, {
      snapshots: false,
      images: false,
      keepComputeIds: true,
      resetMacAddresses: false,
      anyType: true,
      ...(statuses && { running: statuses }),
    });
    await writeContained(project.record.path, `${SNAPSHOTS}/${fileName}`, '', {
      createParents: true,
      fill: (file) =>
        writeBlockArchive(file, async (archive) => {
          await fill(archive);
          ongoing().commit();
        }),
    }).catch((error: unknown) => {
      throw asConflict(error);
    });
    return (await this.list(project)).find((snapshot) => snapshot.name === name) as Snapshot;
  }

  /** @throws Failure `forbidden` for a closed project, `not-found` */
  delete(project: Project, id: string): Promise<void> {
    project.requireOpen();
    return this.#lock.run(project.id, () =>
      project.changes.run(PRESENCE, async () => {
        project.requireOpen();
        const { file } = await this.#get(project, id);
        await removeContained(project.record.path, file);
      }),
    );
  }

  /**
   * Restores the lab, with new ids for its nodes, links and drawings.
   * @throws Failure `forbidden` for a closed project, `not-found`; the lab then stays as it was
   */
  restore(project: Project, id: string): Promise<void> {
    project.requireOpen();
    return this.#lock.run(project.id, async () => {
      const snapshot = await this.#get(project, id);
      await this.#options.restores.restore(project, snapshot.file);
      this.#options.announcer.project.emit('snapshot.restored', snapshotJson(snapshot), project.id);
    });
  }
}
