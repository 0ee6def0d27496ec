// Duplicates projects (as in release 2.2.57). A lab on this host is copied file by file and may run meanwhile. A lab
// with nodes elsewhere is copied through an archive, which collects their files.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../host/files/atomic-file.ts';
import { ongoing } from '../../host/values/progress.ts';
import { STORED } from '../../store/archive/compressors.ts';
import { packArchive } from '../../store/archive/writer.ts';
import { readTopologyFile, writeTopologyFile } from '../../store/topology/file.ts';
import { bytesBelow, copyTree } from '../copying.ts';
import { PRESENCE } from '../lab/claims.ts';
import type { LabWriter } from '../lab/lab-writer.ts';
import type { Project } from '../lab/project.ts';
import { type GivenSettings, newSettings } from '../lab/settings.ts';
import { fileNameOf } from '../projects/project-paths.ts';
import type { Projects } from '../projects/projects.ts';
import { isStaging, makeStaging } from '../staging.ts';
import { isTopologyFile } from './exclusions.ts';
import type { Exports } from './exporting.ts';
import { type Imports, putInPlace } from './importing.ts';
import { isImageLink } from './links.ts';
import { renameNodeFolders } from './node-files.ts';
import { renewed, withoutMacAddresses } from './topology.ts';

export interface DuplicatesOptions {
  projects: Projects;
  writer: LabWriter;
  exports: Exports;
  imports: Imports;
  projectsPath: string;
  version: string;
}

export interface DuplicatePlan {
  /** Id of the copy. */
  id: string;
  /** Name of the copy; a number is appended if it is taken. */
  name: string;
  /** Folder of the copy. */
  path: string | undefined;
  resetMacAddresses: boolean;
}

/** Automatic actions are off in a copy, whatever the original has. */
const QUIET = { auto_start: false, auto_open: false, auto_close: false };

export class Duplicates {
  readonly #options: DuplicatesOptions;

  constructor(options: DuplicatesOptions) {
    this.#options = options;
  }

  /**
   * Makes a closed copy of an open or closed project.
   * @throws Failure `conflict`, after rollback
   */
  async duplicate(project: Project, plan: DuplicatePlan): Promise<Project> {
    const { projects, writer, version } = this.#options;
    const { id } = plan;
    await using held = new AsyncDisposableStack();
    const place = await projects.takeVacantPlace({ id, name: plan.name, path: plan.path }, held);
    const { topology } = await project.changes.run(PRESENCE, async () => {
      project.requirePresent();
      await writer.flush(project.id);
      return readTopologyFile(join(project.record.path, project.record.filename), { version });
    });
    const isHere = topology.topology.nodes.every(({ compute_id: compute }) => compute === 'local');
    return isHere
      ? await project.changes.run(PRESENCE, () => this.#copyHere(project, plan, { id, place }))
      : await this.#throughArchive(project, plan, { id, place });
  }

  async #copyHere(
    project: Project,
    plan: DuplicatePlan,
    { id, place }: { id: string; place: string },
  ): Promise<Project> {
    project.requirePresent();
    const { record } = project;
    const { projects, projectsPath, version } = this.#options;
    await using held = new AsyncDisposableStack();
    await using undo = new AsyncDisposableStack();
    const directory = join(await makeStaging(projectsPath, held), 'project');
    const isMain = (path: string): boolean => path === record.filename;
    const wanted = (path: string): boolean =>
      !isStaging(path) && (isMain(path) || path.includes('/') || !isTopologyFile(path));
    ongoing().expect(await bytesBelow(record.path, wanted), 'bytes');
    await copyTree(record.path, directory, wanted, isImageLink);
    const file = join(directory, record.filename);
    const { topology: stored } = await readTopologyFile(file, { version });
    await rm(file);
    const name = await projects.reserveName(plan.name, held);
    const { topology, nodeIds } = renewed(stored, { project_id: id, name, ...QUIET }, () => undefined);
    await renameNodeFolders(directory, nodeIds);
    const filename = fileNameOf(name);
    const written = plan.resetMacAddresses ? withoutMacAddresses(topology) : topology;
    await writeTopologyFile(join(directory, filename), written);
    ongoing().commit();
    await putInPlace(directory, place, undo);
    const settings = newSettings(name, written as GivenSettings);
    const copy = await projects.adopt({ ...settings, project_id: id, path: place, filename });
    undo.move();
    return copy;
  }

  async #throughArchive(
    project: Project,
    { name, resetMacAddresses }: DuplicatePlan,
    { id, place }: { id: string; place: string },
  ): Promise<Project> {
    await using held = new AsyncDisposableStack();
    const archive = join(await makeStaging(this.#options.projectsPath, held), 'archive');
    await project.changes.run(PRESENCE, async () => {
      const fill = await this.#options.exports.prepare(project, {
        snapshots: false,
        images: false,
        keepComputeIds: true,
        anyType: true,
        resetMacAddresses,
      });
      await writeFileAtomically(archive, packArchive(STORED, fill));
    });
    const plan = { id, name, place, resetMacAddresses: false, addsImages: false, ...QUIET };
    return await this.#options.imports.unpack(archive, plan);
  }
}
