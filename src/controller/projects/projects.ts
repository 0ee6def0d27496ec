// What can be done with projects: create, change, open, close, delete, load; and the projects that there are.
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/schema.ts';
import { Failure, messageOf } from '../../failures.ts';
import { makeDirectory } from '../../host/directories.ts';
import { eachOf } from '../../host/each-of.ts';
import { KeyedLock } from '../../host/keyed-lock.ts';
import { log } from '../../host/log.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import { readTopologyFile } from '../../store/topology/file.ts';
import type { Compute } from '../computes/compute.ts';
import { EVERYTHING } from '../lab/change-queue.ts';
import { PRESENCE, SETTINGS } from '../lab/claims.ts';
import type { LabWriter } from '../lab/lab-writer.ts';
import type { OpeningParts } from '../lab/opening.ts';
import { Project } from '../lab/project.ts';
import { type Exchange, ProjectLife } from '../lab/project-life.ts';
import { type GivenSettings, givenSettings, newSettings } from '../lab/settings.ts';
import { rewriteSettings, storedContent } from './closed-file.ts';
import { moveProject, settleMoves } from './moving.ts';
import { exists, fileNameOf, liesBelow, mustBeVacant, type PlaceRules, placeFor, refuseShared } from './places.ts';
import { deleteOnComputes, forgetDeleted, removeFiles } from './removal.ts';
import { hasFile, scanProjects } from './scan.ts';
import type { ProjectCreate, ProjectUpdate } from './schema.ts';

export interface ProjectsOptions extends Omit<OpeningParts, 'version'> {
  config: Config;
  writer: LabWriter;
}

export class Projects {
  readonly #options: ProjectsOptions;
  readonly #projects = new Map<string, Project>();
  /** Projects that were open when a former life of this server ended, whether they can be found or not. */
  #formerlyOpen: ReadonlySet<string> = new Set();
  /** Names of projects that are being made or renamed. */
  readonly #reserved = new Set<string>();
  /** Projects of one id come one after the other. */
  readonly #arrivals = new KeyedLock();
  readonly #life: ProjectLife;

  constructor(options: ProjectsOptions) {
    this.#options = options;
    const { version, auto_close_grace } = options.config.Server;
    this.#life = new ProjectLife({ ...options, version }, auto_close_grace);
  }

  get #version(): string {
    return this.#options.config.Server.version;
  }

  get #rules(): PlaceRules {
    const { projects_path: root, local } = this.#options.config.Server;
    return { root, local };
  }

  #announce(action: string, project: Project): void {
    this.#options.announcer.controller.emit(action as 'project.created', project.json());
  }

  /** Writes what a crash left unwritten, and finds the projects that there are; those that were open are open again with `reopenAll`. */
  async start(): Promise<void> {
    const { store, writer, config } = this.#options;
    await makeDirectory(config.Server.projects_path);
    await settleMoves(store.projects);
    const labs = await store.labs.list();
    const recorded = labs.map(({ project_id: id }) => id);
    const leftOpen = labs.filter(({ closing }) => !closing).map(({ project_id: id }) => id);
    this.#formerlyOpen = new Set(recorded);
    const unwritten = (id: string) => (error: unknown) =>
      log.error('the lab of the last run cannot be written to its file; it is kept in the database', {
        project: id,
        error: messageOf(error),
      });
    for (const id of recorded) await writer.flush(id).catch(unwritten(id));
    await this.#scan(new Set(recorded));
    for (const project of this.list()) {
      project.leftOpen = leftOpen.includes(project.id) && project.damaged === undefined;
    }
    for (const id of recorded) {
      const project = this.#projects.get(id);
      if (project?.leftOpen) continue;
      const isClosing = project?.damaged === undefined && !leftOpen.includes(id);
      await (project && isClosing ? this.#life.endClosing(project) : writer.end(id)).catch(unwritten(id));
    }
    await forgetDeleted(store, { root: config.Server.projects_path, found: new Set(this.#projects.keys()) });
  }

  /**
   * Opens the labs that were open when a former life of this server ended without closing them: nodes that run on are taken back, and
   * their cables and captures made anew. Never rejects.
   */
  async reopenAll(): Promise<void> {
    const { announcer } = this.#options;
    const begin = performance.now();
    const left = this.list().filter(({ leftOpen }) => leftOpen);
    await eachOf(left, left.length, async (project) => {
      try {
        await this.open(project);
      } catch (error) {
        const message = `The project "${project.record.name}" was open and does not open again: ${messageOf(error)}`;
        log.error(message, { project: project.id });
        announcer.project.emit('log.error', { message }, project.id);
      }
    });
    if (left.length > 0) {
      log.info('labs are open again', { labs: left.length, milliseconds: Math.round(performance.now() - begin) });
    }
  }

  /** The database says of labs that were `leftOpen` what their files are to say: those are recorded when they are open. */
  async #scan(leftOpen: ReadonlySet<string> = new Set()): Promise<void> {
    const { store, config } = this.#options;
    const found = await scanProjects(config.Server.projects_path, this.#version, await store.projects.list());
    const ids = new Set(found.map(({ record }) => record.project_id));
    for (const project of this.list().filter(({ id, damaged }) => damaged !== undefined && !ids.has(id))) {
      this.#remove(project);
    }
    for (const { record, damaged, foreign = false } of found) {
      const known = this.#projects.get(record.project_id);
      if (known && known.state !== 'closed') continue;
      const project = known ?? this.#register(record);
      project.damaged = damaged;
      project.foreign = foreign;
      if (damaged === undefined && !leftOpen.has(record.project_id)) await store.projects.put(record);
    }
  }

  /** Nobody finds it from now on; who waits for a turn is told that it is gone. */
  #remove(project: Project): void {
    project.become('deleted');
    this.#projects.delete(project.id);
    this.#announce('project.deleted', project);
  }

  #register(record: ProjectRecord): Project {
    const project = this.#projects.get(record.project_id) ?? new Project(record);
    if (!this.#projects.has(project.id)) {
      this.#projects.set(project.id, project);
      this.#announce('project.created', project);
    }
    return project;
  }

  /** Forgets projects whose directory has vanished, finds new ones, opens those that open by themselves. */
  async reload(): Promise<void> {
    for (const project of this.list()) {
      await project.changes.run(EVERYTHING, async () => {
        if (project.state === 'deleted' || (await hasFile(project.record))) return;
        await this.#life.closeNow(project);
        await this.#options.writer.forget(project.id);
        this.#remove(project);
      });
    }
    await this.#scan();
    await this.openAutomatic();
  }

  /** Opens what is to be open from the start. */
  async openAutomatic(): Promise<void> {
    for (const project of this.list().filter(({ record }) => record.auto_open)) {
      await this.open(project).catch((error: unknown) => {
        log.error('a project with auto_open does not open', { project: project.id, error: messageOf(error) });
      });
    }
  }

  /** Stops and writes everything; with `keepNodes` labs stay open for the next life of this server, and their nodes run on. */
  async stop({ keepNodes = false } = {}): Promise<void> {
    if (!keepNodes) await Promise.allSettled(this.list().map((project) => this.close(project)));
    await this.#options.writer.stop();
  }

  /** In the order of registration. */
  list(): Project[] {
    return [...this.#projects.values()];
  }

  /** Whether it is this server that opens the project on its computes, and no other one. */
  isOurs(id: string): boolean {
    return this.#projects.has(id) || this.#formerlyOpen.has(id);
  }

  find(id: string): Project | undefined {
    return this.#projects.get(id);
  }

  get(id: string): Project {
    const project = this.#projects.get(id);
    if (!project) throw new Failure('not-found', `project_id: there is no project ${id}.`);
    return project;
  }

  /** A project whose content is there, waiting for an opening under way; closed ones are the caller's matter. */
  async settled(id: string): Promise<Project> {
    const project = this.get(id);
    await project.settled();
    return project;
  }

  /** The same, refusing a closed one. */
  async opened(id: string): Promise<Project> {
    const project = await this.settled(id);
    project.requireOpen();
    return project;
  }

  /** Creates an empty, open project; a known `project_id` gives the one that there is. */
  async create(given: ProjectCreate): Promise<Project> {
    if (given.name === null) throw new Failure('invalid', 'name: is required; give the project a name.');
    const id = given.project_id ?? randomUUID();
    const name = given.name;
    return this.arriving(id, async () => {
      const known = this.#projects.get(id);
      if (known) return known;
      await using held = new AsyncDisposableStack();
      this.#takeName(name, held);
      await using undo = new AsyncDisposableStack();
      const path = await this.#newPlace(given, id);
      const record: ProjectRecord = {
        ...newSettings(name, given as GivenSettings),
        project_id: id,
        path,
        filename: fileNameOf(name),
      };
      const project = new Project(record, 'opened');
      const contents = { nodes: [], links: [], drawings: [], computes: [] };
      // From this step on it is there: a server that is killed now makes the rest at its next start.
      undo.defer(() => this.#options.writer.forget(id));
      await this.#options.store.labs.begin(id, contents, { project: record });
      const made = await makeDirectory(path);
      if (made !== undefined) undo.defer(() => rm(made, { recursive: true, force: true }));
      await this.#options.writer.flush(id);
      undo.move();
      this.#projects.set(id, project);
      this.#announce('project.created', project);
      return project;
    });
  }

  /** Runs what may register a project of this id when nothing else may: the second one finds the first one's. */
  arriving<T>(id: string, task: () => Promise<T>): Promise<T> {
    return this.#arrivals.run(id, task);
  }

  #isTaken(name: string): boolean {
    return this.#reserved.has(name) || this.list().some(({ record }) => record.name === name);
  }

  /** Keeps a name for a project while `held` lasts. @throws Failure `conflict` when it is taken */
  #takeName(name: string, held: AsyncDisposableStack): void {
    if (this.#isTaken(name))
      throw new Failure('conflict', `name: there is already a project "${name}"; choose another name.`);
    this.#reserved.add(name);
    held.defer(() => void this.#reserved.delete(name));
  }

  /** The directory of a new project; it must lie below the projects directory unless clients may name paths. */
  async #newPlace(given: ProjectCreate, id: string): Promise<string> {
    const path = await placeFor(id, given.path, this.#rules);
    if (given.path && !given.project_id && (await exists(path))) {
      throw new Failure(
        'forbidden',
        `path: ${path} exists already; name a folder that does not, or load the project in it.`,
      );
    }
    if (given.path) await refuseShared(path, this.#others());
    return path;
  }

  /** The records of all projects that have a directory of their own, but for one of them. */
  #others(but?: Project): ProjectRecord[] {
    return this.list().flatMap((project) => (project === but || project.foreign ? [] : [project.record]));
  }

  /** Where a project that comes from elsewhere may be put; nothing is there yet. @throws Failure `forbidden`, `conflict` */
  async vacantPlace(id: string, path: string | undefined): Promise<string> {
    const place = await placeFor(id, path, this.#rules);
    if (path !== undefined) await refuseShared(place, this.#others());
    await mustBeVacant(place);
    return place;
  }

  /** The name, or with a number behind it if a project or something in the projects directory is called so; kept while `held` lasts. */
  async reserveName(wanted: string, held: AsyncDisposableStack): Promise<string> {
    const names = new Set(await readdir(this.#options.config.Server.projects_path).catch(() => []));
    let name = wanted;
    for (let number = 1; names.has(name) || this.#isTaken(name); number += 1) name = `${wanted}-${number}`;
    this.#reserved.add(name);
    held.defer(() => void this.#reserved.delete(name));
    return name;
  }

  /** Takes up a closed project whose directory is in its place. */
  async adopt(record: ProjectRecord): Promise<Project> {
    await this.#options.store.projects.put(record);
    return this.#register(record);
  }

  /** Changes settings; without a real change nothing happens. */
  update(project: Project, given: ProjectUpdate): Promise<Project> {
    return project.changes.run(given.path ? EVERYTHING : SETTINGS, () => this.#updateNow(project, given));
  }

  async #updateNow(project: Project, given: ProjectUpdate): Promise<Project> {
    project.requirePresent();
    await using held = new AsyncDisposableStack();
    if (given.name != null && given.name !== project.record.name) this.#takeName(given.name, held);
    const record = { ...project.record, ...givenSettings(given as GivenSettings) };
    await using undo = new AsyncDisposableStack();
    if (given.path) {
      const target = await placeFor(project.id, given.path, this.#rules);
      record.path = await moveProject(
        project,
        target,
        { store: this.#options.store, others: this.#others(project) },
        undo,
      );
    }
    if (isDeepStrictEqual(record, project.record)) return project;
    if (project.state === 'closed' && project.damaged === undefined) {
      undo.defer(() => rewriteSettings({ ...project.record, path: record.path }, this.#version));
      await rewriteSettings(record, this.#version);
    }
    await this.#options.writer.putProject(record);
    undo.move();
    project.record = record;
    this.#announce('project.updated', project);
    const body = { variables: record.variables };
    for (const compute of project.hosts) {
      // One that does not take them is told them when the project is opened there the next time.
      await compute
        .insist((connect) => compute.put(`/projects/${project.id}`, { body, connect }))
        .catch((error: unknown) => log.warn('a compute does not take variables', { reason: messageOf(error) }));
    }
    return project;
  }

  /** Opens a project; nothing happens when it is open. */
  open(project: Project): Promise<Project> {
    return this.#life.open(project);
  }

  /** Exchanges the files of an open project, see `ProjectLife`. */
  reopen(project: Project, exchange: Exchange): Promise<void> {
    return this.#life.reopen(project, exchange);
  }

  /** Stops the nodes, writes the file, forgets the lab. Nothing happens unless the project is open. */
  close(project: Project): Promise<void> {
    return this.#life.close(project);
  }

  /** A listener of the project's notifications left: it may have been the last one. */
  listenerLeft(project: Project): void {
    this.#life.listenerLeft(project);
  }

  /** Nodes, links or drawings of a closed project. */
  stored(project: Project, kind: 'nodes' | 'links' | 'drawings'): Promise<object> {
    return project.changes.run(PRESENCE, async () => {
      project.requirePresent();
      // What could not be written when the project was closed.
      await this.#options.writer.flush(project.id);
      return storedContent(project.record, kind, this.#version);
    });
  }

  /** Closes the open projects that use a compute; `reason` is told to who listens to them. */
  async closeUsing(compute: Compute, reason?: string): Promise<void> {
    // One that is being opened may be about to make nodes there.
    await Promise.all(this.list().map((project) => project.settled()));
    const using = this.list().filter(({ state, hosts }) => state !== 'closed' && hosts.has(compute));
    await Promise.all(
      using.map((project) => {
        if (reason !== undefined) {
          this.#options.announcer.project.emit('log.warning', { message: reason }, project.id);
        }
        return this.close(project);
      }),
    );
  }

  /** Deletes a project with its directory; with `abandon` whatever stays behind on computes that are not there. */
  async delete(project: Project, { abandon = false } = {}): Promise<void> {
    project.rounds.cancel();
    await project.changes.run(EVERYTHING, () => this.#deleteNow(project, abandon));
  }

  async #deleteNow(project: Project, abandon: boolean): Promise<void> {
    project.requirePresent();
    const { path } = project.record;
    if (!(await liesBelow(this.#options.config.Server.projects_path, path))) {
      throw new Failure(
        'conflict',
        `The directory ${path} is not below the projects directory: close the project and delete the directory yourself.`,
      );
    }
    // All that is in the directory goes with it.
    await refuseShared(path, this.#others(project));
    const { computes } = this.#options;
    await deleteOnComputes(project, { computes, version: this.#version, abandon });
    const wasOpen = project.state !== 'closed';
    await this.#life
      .closeNow(project, { forDeletion: true })
      .catch((error: unknown) => log.warn('closing before deletion', { project: project.id, error: messageOf(error) }));
    if (!wasOpen) this.#announce('project.closed', project);
    const { projects_path: root } = this.#options.config.Server;
    try {
      await removeFiles(path, root, () => this.#options.writer.forget(project.id));
    } catch (error) {
      // What is not deleted can be used as before.
      if (wasOpen) await this.#life.openAgain(project);
      throw error;
    }
    this.#remove(project);
    for (const other of this.list().filter((one) => one.foreign && one.record.path === path)) this.#remove(other);
  }

  /** Registers a topology file of this machine, or takes the project that is known under its id, and opens it. */
  async load(file: string): Promise<Project> {
    const path = resolve(file);
    const isKnown = this.list().some(({ record: { path: folder, filename } }) => join(folder, filename) === path);
    const { topology } = await readTopologyFile(path, { version: this.#version, strict: !isKnown });
    const record = {
      ...newSettings(topology.name, topology as GivenSettings),
      project_id: topology.project_id,
      path: dirname(path),
      filename: basename(path),
    };
    const project = await this.arriving(record.project_id, async () => {
      const known = this.#projects.get(record.project_id);
      if (known) return known;
      await refuseShared(record.path, this.#others());
      await this.#options.store.projects.put(record);
      return this.#register(record);
    });
    return this.open(project);
  }
}
