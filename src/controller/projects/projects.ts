// Creates, changes, opens, closes, deletes and loads projects.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ProjectCreate, ProjectUpdate } from '../../api/routes/projects.ts';
import { requireName } from '../../api/vocabulary.ts';
import type { Config } from '../../config/schema.ts';
import { conflict, forbidden, invalid, messageOf } from '../../failures.ts';
import { makeDirectory, removeEmptyDirectories } from '../../host/files/directories.ts';
import { exists } from '../../host/files/exists.ts';
import { log } from '../../host/log.ts';
import type { DocumentChange } from '../../store/documents.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import { readTopologyFile } from '../../store/topology/file.ts';
import type { Compute } from '../computes/compute.ts';
import { cancelStarts } from '../lab/actions.ts';
import { EVERYTHING } from '../lab/change-queue.ts';
import { PRESENCE, SETTINGS } from '../lab/claims.ts';
import type { LabWriter } from '../lab/lab-writer.ts';
import type { OpeningParts, OpeningRights } from '../lab/opening.ts';
import { Project } from '../lab/project.ts';
import { type Exchange, ProjectLife } from '../lab/project-life.ts';
import { type GivenSettings, givenSettings, newSettings } from '../lab/settings.ts';
import { Catalogue } from './catalogue.ts';
import { type LabContent, rewriteSettings, storedContent } from './closed-file.ts';
import { moveProject } from './move-project.ts';
import { fileNameOf, liesBelow, refuseShared } from './project-paths.ts';
import { deleteEverywhere, forgetDeleted, type LabDocuments, remoteComputes, removeFiles } from './removal.ts';
import { Restart } from './restart.ts';
import { hasFile } from './scan.ts';

export interface ProjectsOptions extends Omit<OpeningParts, 'version'> {
  config: Config;
  writer: LabWriter;
  /** Called with each new project found on the disk, before it is announced. */
  found: (projectId: string) => Promise<void>;
  /** Called with each project that is missing from the disk. */
  lost: (projectId: string) => Promise<void>;
  documents: LabDocuments;
}

export class Projects extends Catalogue {
  readonly #options: ProjectsOptions;
  readonly #life: ProjectLife;
  readonly #restart: Restart;

  constructor(options: ProjectsOptions) {
    super(options);
    this.#options = options;
    const { version, auto_close_grace } = options.config.Server;
    this.#life = new ProjectLife({ ...options, version: version.v2.number }, auto_close_grace);
    this.#restart = new Restart({ ...options, catalogue: this, life: this.#life });
  }

  get #version(): string {
    return this.#options.config.Server.version.v2.number;
  }

  /** Restores the state of the previous run, see `Restart`. */
  start(): Promise<void> {
    return this.#restart.start();
  }

  /** Reopens the labs that were open when the previous run ended, see `Restart`. Never rejects. */
  reopenAll(): Promise<void> {
    return this.#restart.reopenAll();
  }

  /**
   * Removes projects whose directory is missing, listed or not, finds new ones, and opens those with `auto_open`. A lab
   * with changes that its missing file does not have stays, closed: its disk may come back.
   */
  async reload(): Promise<void> {
    for (const project of this.list()) {
      const removing = project.changes.run(EVERYTHING, async () => {
        if (project.state === 'deleted' || (await hasFile(project.record))) return;
        await this.#life.closeNow(project);
        await this.#options.writer.forget(project.id);
        await this.#options.lost(project.id);
        this.remove(project);
      });
      await removing.catch((error: unknown) => {
        log.error('a project without its directory stays', { project: project.id, error: messageOf(error) });
      });
    }
    await this.#restart.scan();
    await forgetDeleted(this.#options.store, {
      found: new Set(this.list().map(({ id }) => id)),
      lost: this.#options.lost,
    });
    await this.openAutomatic();
  }

  /** Known projects that are not listed, because their files were missing when the server started. */
  async missing(): Promise<ProjectRecord[]> {
    const { projects } = this.#options.store;
    const unlisted = (await projects.list()).filter(({ project_id: id }) => this.find(id) === undefined);
    const records = unlisted.map(({ project_id: id }) =>
      // A project that is being created is stored before it is listed.
      this.arriving(id, async () => (this.find(id) === undefined ? projects.get(id) : undefined)),
    );
    return (await Promise.all(records)).filter((record) => record !== undefined);
  }

  async openAutomatic(): Promise<void> {
    for (const project of this.list().filter(({ record }) => record.auto_open)) {
      await this.open(project).catch((error: unknown) => {
        log.error('a project with auto_open does not open', { project: project.id, error: messageOf(error) });
      });
    }
  }

  /**
   * Stops and writes everything. With `keepNodes` labs stay open for the next run of the server, and their nodes run
   * on.
   */
  async stop({ keepNodes = false } = {}): Promise<void> {
    this.#restart.stop();
    if (!keepNodes) await Promise.allSettled(this.list().map((project) => this.close(project)));
    await this.#options.writer.stop();
  }

  /** Whether this server, and not another one, has the project open on its computes. */
  isOurs(id: string): boolean {
    return this.find(id) !== undefined || this.#restart.wasOpen(id);
  }

  /** Creates an empty, open project, or returns the existing one with this `id`. */
  async create(given: ProjectCreate, id: string = given.project_id ?? randomUUID()): Promise<Project> {
    if (given.name === null) throw invalid('name: is required; give the lab a name.');
    const name = given.name;
    return this.arriving(id, async () => {
      const known = this.find(id);
      if (known) return known;
      await using held = new AsyncDisposableStack();
      this.takeName(name, held);
      await using undo = new AsyncDisposableStack();
      const path = await this.#newPlace(given, { id, name }, held);
      const record: ProjectRecord = {
        ...newSettings(name, given as GivenSettings),
        project_id: id,
        path,
        filename: fileNameOf(name),
      };
      const project = new Project(record, this.#options.remoteChanges, 'opened');
      const contents = { nodes: [], links: [], drawings: [], computes: [] };
      // From here on it exists: after a crash the next start creates the rest.
      undo.defer(() => this.#options.writer.forget(id));
      await this.#options.store.labs.begin(id, contents, { project: record });
      const made = await makeDirectory(path);
      if (made !== undefined)
        undo.defer(async () => {
          await rm(path, { recursive: true, force: true });
          // Other labs may have been put beside it.
          if (made !== path) await removeEmptyDirectories(dirname(path), made);
        });
      await this.#options.writer.flush(id);
      undo.move();
      return this.register(project);
    });
  }

  /** Reserves the directory of a new project; it must be below the projects directory unless clients may name paths. */
  async #newPlace(
    { path: wanted, project_id: given }: ProjectCreate,
    project: { id: string; name: string },
    held: AsyncDisposableStack,
  ): Promise<string> {
    const path = await this.placeOf(project.id, wanted);
    await this.keepPlace({ name: project.name, path }, held);
    if (wanted && !given && (await exists(path))) {
      throw forbidden(`path: ${path} exists already; name a folder that does not, or load the project in it.`);
    }
    if (wanted) await refuseShared(path, this.others());
    return path;
  }

  /** Changes settings; without a real change nothing happens. */
  update(project: Project, given: ProjectUpdate): Promise<Project> {
    return project.changes.run(given.path ? EVERYTHING : SETTINGS, () =>
      this.whileOwning(project, () => this.#updateNow(project, given)),
    );
  }

  async #updateNow(project: Project, given: ProjectUpdate): Promise<Project> {
    project.requirePresent();
    await using held = new AsyncDisposableStack();
    if (given.name != null && given.name !== project.record.name) {
      requireName(given.name);
      this.takeName(given.name, held);
    }
    const record = { ...project.record, ...givenSettings(given as GivenSettings) };
    await using undo = new AsyncDisposableStack();
    if (given.path) {
      const target = await this.takePlace({ id: project.id, name: record.name, path: given.path }, held);
      record.path = await moveProject(project, target, this.#options.store, undo);
    }
    if (isDeepStrictEqual(record, project.record)) return project;
    if (project.state === 'closed' && project.damaged === undefined) {
      // First write changes that could not be written when the project was closed. While the database has its lab, the
      // settings are written with it, too.
      await this.#options.writer.flush(project.id);
      if ((await this.#options.store.labs.state(project.id)) === undefined) {
        undo.defer(() => rewriteSettings({ ...project.record, path: record.path }, this.#version));
        await rewriteSettings(record, this.#version);
      }
    }
    await this.#options.writer.putProject(record);
    undo.move();
    project.record = record;
    this.announce('project.updated', project);
    const body = { variables: record.variables };
    for (const compute of project.hosts) {
      // A compute that rejects them gets them at the next opening of the project.
      await compute
        .retryOnce((connect) => compute.put(`/projects/${project.id}`, { body, connect }))
        .catch((error: unknown) => log.warn('a compute does not take variables', { reason: messageOf(error) }));
    }
    return project;
  }

  /** Opens a project unless it is open. */
  open(project: Project, rights?: OpeningRights): Promise<Project> {
    return this.#life.open(project, rights);
  }

  /** Replaces the files of an open project, see `ProjectLife`. */
  reopen(project: Project, exchange: Exchange): Promise<void> {
    return this.#life.reopen(project, exchange);
  }

  /** Stops the nodes, writes the file and forgets the lab. Does nothing unless the project is open. */
  close(project: Project): Promise<void> {
    return this.#life.close(project);
  }

  /** A listener of the project's notifications has left, perhaps the last one. */
  listenerLeft(project: Project): void {
    this.#life.listenerLeft(project);
  }

  /** Before the listeners of a server that stops are ended. */
  endAutoClose(): void {
    this.#life.endAutoClose();
  }

  /** Until it closes because its last listener has left; null if it does not. */
  closesInSeconds(project: Project): number | null {
    return this.#life.closesInSeconds(project);
  }

  /** Nodes, links or drawings of a closed project. */
  stored<Kind extends keyof LabContent>(project: Project, kind: Kind): Promise<LabContent[Kind]> {
    return project.changes.run(PRESENCE, async () => {
      project.requirePresent();
      // First write changes that could not be written when the project was closed.
      await this.#options.writer.flush(project.id);
      const readOnly = await this.#options.store.locks.isOthers(project.record);
      return storedContent(project.record, kind, { version: this.#version, readOnly });
    });
  }

  async closeUsing(compute: Compute): Promise<void> {
    // A project that is opening may be about to create nodes there.
    await Promise.all(this.list().map((project) => project.settled()));
    const using = this.list().filter(({ state, computes }) => state !== 'closed' && computes.has(compute));
    await Promise.all(using.map((project) => this.close(project)));
  }

  /** Deletes a project with its directory, and on its other computes when these can. */
  async delete(project: Project): Promise<void> {
    const cancelled = cancelStarts(project);
    await project.changes.run(EVERYTHING, async () => {
      await cancelled;
      await this.whileOwning(project, () => this.#deleteNow(project));
    });
  }

  async #deleteNow(project: Project): Promise<void> {
    project.requirePresent();
    const { path } = project.record;
    if (!(await liesBelow(this.#options.config.Server.projects_path, path))) {
      throw conflict(
        `The directory ${path} is not below the projects directory: close the project and delete the directory yourself.`,
      );
    }
    // Everything in the directory is deleted with it.
    await refuseShared(path, this.others(project));
    const { computes, documents } = this.#options;
    const remote = await remoteComputes(project, { computes, version: this.#version });
    const wasOpen = project.state !== 'closed';
    await this.#life
      .closeNow(project, { forDeletion: true })
      .catch((error: unknown) => log.warn('closing before deletion', { project: project.id, error: messageOf(error) }));
    if (!wasOpen) this.announce('project.closed', project);
    const { projects_path: root } = this.#options.config.Server;
    try {
      const { store, writer } = this.#options;
      const forget = (changes: readonly DocumentChange[]): Promise<void> => writer.forget(project.id, changes);
      await deleteEverywhere(project, remote, () =>
        store.makingRoom(() => removeFiles(path, root, () => documents.forgetting(project.id, forget))),
      );
    } catch (error) {
      // A project that could not be deleted stays usable.
      if (wasOpen) await this.#life.openAgain(project);
      throw error;
    }
    this.remove(project);
    await documents.gone(project.id);
    for (const other of this.list().filter((one) => one.foreign && one.record.path === path)) this.remove(other);
  }

  /**
   * Registers a topology file of this host, or finds the known project with its id, and opens it.
   * @param making creates the project with this id, if the client may
   */
  async load(
    file: string,
    making: (id: string, make: () => Promise<Project>) => Promise<Project>,
    rights?: OpeningRights,
  ): Promise<Project> {
    const path = resolve(file);
    const isKnown = this.list().some(({ record: { path: folder, filename } }) => join(folder, filename) === path);
    // Opening it upgrades an older one.
    const options = { version: this.#version, strict: !isKnown, readOnly: true };
    const { topology } = await readTopologyFile(path, options);
    const record = {
      ...newSettings(topology.name, topology as GivenSettings),
      project_id: topology.project_id,
      path: dirname(path),
      filename: basename(path),
    };
    const id = record.project_id;
    const adopt = (): Promise<Project> =>
      this.arriving(id, async () => {
        const known = this.find(id);
        if (known) return known;
        await using held = new AsyncDisposableStack();
        this.takeName(record.name, held);
        await this.keepPlace(record, held);
        await refuseShared(record.path, this.others());
        return this.#options.store.locks.during(record, () => this.adopt(record));
      });
    return this.open(await making(id, adopt), rights);
  }
}
