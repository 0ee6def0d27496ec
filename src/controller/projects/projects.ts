// What can be done with projects: create, change, open, close, delete, load; and the projects that there are.
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
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
import { rewriteSettings, storedContent } from './closed-file.ts';
import type { LabWriter } from './lab-writer.ts';
import type { OpeningParts } from './opening.ts';
import { exists, fileNameOf, liesBelow, mustBeVacant, type PlaceRules, placeFor } from './places.ts';
import { Project } from './project.ts';
import { ProjectLife } from './project-life.ts';
import { deleteOnComputes, removeFiles } from './removal.ts';
import { hasFile, scanProjects } from './scan.ts';
import type { ProjectCreate, ProjectUpdate } from './schema.ts';
import { type GivenSettings, givenSettings, newSettings } from './settings.ts';

export interface ProjectsOptions extends Omit<OpeningParts, 'version'> {
  config: Config;
  writer: LabWriter;
}

export class Projects {
  private readonly options: ProjectsOptions;
  private readonly projects = new Map<string, Project>();
  /** Projects that were open when a former life of this server ended, whether they can be found or not. */
  private formerlyOpen: ReadonlySet<string> = new Set();
  /** Names of projects that are being made. */
  private readonly reserved = new Set<string>();
  private readonly lock = new KeyedLock();
  private readonly life: ProjectLife;

  constructor(options: ProjectsOptions) {
    this.options = options;
    const { version, auto_close_grace } = options.config.Server;
    this.life = new ProjectLife({ ...options, version }, auto_close_grace);
  }

  private get version(): string {
    return this.options.config.Server.version;
  }

  private get rules(): PlaceRules {
    const { projects_path: root, local } = this.options.config.Server;
    return { root, local };
  }

  private announce(action: string, project: Project): void {
    this.options.announcer.controller.emit(action as 'project.created', project.json());
  }

  /** Writes what a crash left unwritten, and finds the projects that there are; those that were open are open again with `takeBack`. */
  async start(): Promise<void> {
    const { store, writer, config } = this.options;
    await makeDirectory(config.Server.projects_path);
    const leftOpen = (await store.labs.list()).map(({ project_id: id }) => id);
    this.formerlyOpen = new Set(leftOpen);
    const unwritten = (id: string) => (error: unknown) =>
      log.error('the lab of the last run cannot be written to its file; it is kept in the database', {
        project: id,
        error: messageOf(error),
      });
    for (const id of leftOpen) await writer.flush(id).catch(unwritten(id));
    await this.scan();
    for (const project of this.list()) {
      project.leftOpen = leftOpen.includes(project.id) && project.damaged === undefined;
    }
    for (const id of leftOpen.filter((id) => !this.projects.get(id)?.leftOpen)) {
      await writer.end(id).catch(unwritten(id));
    }
  }

  /**
   * Opens the labs that were open when a former life of this server ended without closing them: nodes that run on are taken back, and
   * their cables and captures made anew. Never rejects.
   */
  async takeBack(): Promise<void> {
    const { announcer } = this.options;
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

  private async scan(): Promise<void> {
    const { store, config } = this.options;
    for (const { record, damaged } of await scanProjects(config.Server.projects_path, this.version)) {
      const known = this.projects.get(record.project_id);
      if (known && known.state !== 'closed') continue;
      const project = known ?? this.register(record);
      project.damaged = damaged;
      if (damaged === undefined) await store.projects.put(record);
    }
    for (const record of await store.projects.list()) {
      if (!this.projects.has(record.project_id) && (await hasFile(record))) this.register(record);
    }
  }

  private register(record: ProjectRecord): Project {
    const project = this.projects.get(record.project_id) ?? new Project(record);
    if (!this.projects.has(project.id)) {
      this.projects.set(project.id, project);
      this.announce('project.created', project);
    }
    return project;
  }

  /** Forgets projects whose directory has vanished, finds new ones, opens those that open by themselves. */
  async reload(): Promise<void> {
    for (const project of this.list()) {
      if (await hasFile(project.record)) continue;
      await this.close(project);
      await this.options.writer.forget(project.id);
      this.projects.delete(project.id);
      this.announce('project.deleted', project);
    }
    await this.scan();
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
    await this.options.writer.stop();
  }

  /** In the order of registration. */
  list(): Project[] {
    return [...this.projects.values()];
  }

  /** Whether it is this server that opens the project on its computes, and no other one. */
  isOurs(id: string): boolean {
    return this.projects.has(id) || this.formerlyOpen.has(id);
  }

  find(id: string): Project | undefined {
    return this.projects.get(id);
  }

  get(id: string): Project {
    const project = this.projects.get(id);
    if (!project) throw new Failure('not-found', `project_id: there is no project ${id}.`);
    return project;
  }

  /** A project whose content is there, waiting for an opening under way; closed ones are the caller's matter. */
  async settled(id: string): Promise<Project> {
    const project = this.get(id);
    await project.opening?.catch(() => {});
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
    return this.lock.run('create', async () => {
      const known = this.projects.get(id);
      if (known) return known;
      this.refuseTakenName(name);
      await using undo = new AsyncDisposableStack();
      const path = await this.makeDirectory(given, id, undo);
      const record: ProjectRecord = {
        ...newSettings(name, given as GivenSettings),
        project_id: id,
        path,
        filename: fileNameOf(name),
      };
      const project = new Project(record);
      await this.options.store.projects.put(record);
      undo.defer(() => this.options.writer.forget(id));
      await this.options.store.labs.begin(id, { nodes: [], links: [], drawings: [], computes: [] });
      await this.options.writer.flush(id);
      undo.move();
      project.state = 'opened';
      this.projects.set(id, project);
      this.announce('project.created', project);
      return project;
    });
  }

  private isTaken(name: string): boolean {
    return this.reserved.has(name) || this.list().some(({ record }) => record.name === name);
  }

  private refuseTakenName(name: string): void {
    if (!this.isTaken(name)) return;
    throw new Failure('conflict', `name: there is already a project "${name}"; choose another name.`);
  }

  /** Makes the project's directory; it must lie below the projects directory unless clients may name paths. */
  private async makeDirectory(given: ProjectCreate, id: string, undo: AsyncDisposableStack): Promise<string> {
    const path = await placeFor(id, given.path, this.rules);
    if (given.path && !given.project_id && (await exists(path))) {
      throw new Failure(
        'forbidden',
        `path: ${path} exists already; name a folder that does not, or load the project in it.`,
      );
    }
    const made = await makeDirectory(path);
    if (made !== undefined) undo.defer(() => rm(made, { recursive: true, force: true }));
    return path;
  }

  /** Where a project that comes from elsewhere may be put; nothing is there yet. @throws Failure `forbidden`, `conflict` */
  async vacantPlace(id: string, path: string | undefined): Promise<string> {
    const place = await placeFor(id, path, this.rules);
    await mustBeVacant(place);
    return place;
  }

  /** The name, or with a number behind it if a project or something in the projects directory is called so; kept while `held` lasts. */
  async reserveName(wanted: string, held: AsyncDisposableStack): Promise<string> {
    const names = new Set(await readdir(this.options.config.Server.projects_path).catch(() => []));
    let name = wanted;
    for (let number = 1; names.has(name) || this.isTaken(name); number += 1) name = `${wanted}-${number}`;
    this.reserved.add(name);
    held.defer(() => void this.reserved.delete(name));
    return name;
  }

  /** Takes up a closed project whose directory is in its place. */
  async adopt(record: ProjectRecord): Promise<Project> {
    await this.options.store.projects.put(record);
    return this.register(record);
  }

  /** Changes settings; without a real change nothing happens. */
  async update(project: Project, given: ProjectUpdate): Promise<Project> {
    if (given.name != null && given.name !== project.record.name) this.refuseTakenName(given.name);
    const record = { ...project.record, ...givenSettings(given as GivenSettings) };
    if (given.path) record.path = await this.movedTo(project, given.path);
    if (isDeepStrictEqual(record, project.record)) return project;
    await using undo = new AsyncDisposableStack();
    if (project.state === 'closed' && project.damaged === undefined) {
      undo.defer(() => rewriteSettings(project.record, this.version));
      await rewriteSettings(record, this.version);
    }
    await this.options.writer.putProject(record);
    undo.move();
    project.record = record;
    this.announce('project.updated', project);
    const body = { variables: record.variables };
    for (const compute of project.hosts) {
      // One that does not take them is told them when the project is opened there the next time.
      await compute
        .insist((connect) => compute.put(`/projects/${project.id}`, { body, connect }))
        .catch((error: unknown) => log.warn('a compute does not take variables', { reason: messageOf(error) }));
    }
    return project;
  }

  private async movedTo(project: Project, path: string): Promise<string> {
    const target = await placeFor(project.id, path, this.rules);
    await makeDirectory(target);
    return target;
  }

  /** Opens a project; nothing happens when it is open. */
  open(project: Project): Promise<Project> {
    return this.life.open(project);
  }

  /** Exchanges the files of an open project, see `ProjectLife`. */
  reopen(project: Project, change: (undo: AsyncDisposableStack) => Promise<void>): Promise<void> {
    return this.life.reopen(project, change);
  }

  /** Stops the nodes, writes the file, forgets the lab. Nothing happens unless the project is open. */
  close(project: Project): Promise<void> {
    return this.life.close(project);
  }

  /** A listener of the project's notifications left: it may have been the last one. */
  listenerLeft(project: Project): void {
    this.life.listenerLeft(project);
  }

  /** Nodes, links or drawings of a closed project. */
  async stored(project: Project, kind: 'nodes' | 'links' | 'drawings'): Promise<object> {
    // What could not be written when the project was closed.
    await this.options.writer.flush(project.id);
    return storedContent(project.record, kind, this.version);
  }

  /** Closes the open projects that use a compute. */
  async closeUsing(compute: Compute): Promise<void> {
    const using = this.list().filter(({ state, hosts }) => state !== 'closed' && hosts.has(compute));
    await Promise.all(using.map((project) => this.close(project)));
  }

  /** Deletes a project with its directory; with `abandon` whatever stays behind on computes that are not there. */
  async delete(project: Project, { abandon = false } = {}): Promise<void> {
    const { path } = project.record;
    if (!(await liesBelow(this.options.config.Server.projects_path, path))) {
      throw new Failure(
        'conflict',
        `The directory ${path} is not below the projects directory: close the project and delete the directory yourself.`,
      );
    }
    const { computes } = this.options;
    await deleteOnComputes(project, { computes, version: this.version, abandon });
    const wasOpen = project.state !== 'closed';
    await this.close(project).catch((error: unknown) =>
      log.warn('closing before deletion', { project: project.id, error: messageOf(error) }),
    );
    if (!wasOpen) this.announce('project.closed', project);
    const { projects_path: root } = this.options.config.Server;
    await removeFiles(path, root, () => this.options.writer.forget(project.id));
    this.projects.delete(project.id);
    this.announce('project.deleted', project);
  }

  /** Registers a topology file of this machine, or takes the project that is known under its id, and opens it. */
  async load(file: string): Promise<Project> {
    const path = resolve(file);
    const { topology } = await readTopologyFile(path, { version: this.version });
    const record = {
      ...newSettings(topology.name, topology as GivenSettings),
      project_id: topology.project_id,
      path: dirname(path),
      filename: basename(path),
    };
    const known = this.projects.get(record.project_id);
    if (!known) await this.options.store.projects.put(record);
    return this.open(known ?? this.register(record));
  }
}
