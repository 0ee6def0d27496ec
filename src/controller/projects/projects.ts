// What can be done with projects: create, change, open, close, delete, load; and the projects that there are.
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/schema.ts';
import { Failure, messageOf, systemCode } from '../../failures.ts';
import { makeDirectory } from '../../host/directories.ts';
import { KeyedLock } from '../../host/keyed-lock.ts';
import { log } from '../../host/log.ts';
import { parseJsonBounded } from '../../store/json.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import { topologyOf } from '../../store/topology/document.ts';
import { readTopologyFile, writeTopologyFile } from '../../store/topology/file.ts';
import type { Topology } from '../../store/topology/schema.ts';
import type { Compute } from '../computes/compute.ts';
import { startAll, stopAll } from '../nodes/actions.ts';
import type { LabWriter } from './lab-writer.ts';
import { closeOnComputes, type OpeningParts, openLab } from './opening.ts';
import { exists, fileNameOf, isBelow, mustBeVacant, type PlaceRules, placeFor } from './places.ts';
import { Project } from './project.ts';
import { deleteOnComputes } from './removal.ts';
import { hasFile, scanProjects } from './scan.ts';
import type { ProjectCreate, ProjectUpdate } from './schema.ts';
import { type GivenSettings, givenSettings, newSettings } from './settings.ts';

export interface ProjectsOptions extends Omit<OpeningParts, 'version'> {
  config: Config;
  writer: LabWriter;
}

/** Milliseconds after which a project with `auto_close` is closed when its last listener has left. */
const AUTO_CLOSE = 5_000;

export class Projects {
  private readonly options: ProjectsOptions;
  private readonly projects = new Map<string, Project>();
  /** Names of projects that are being made. */
  private readonly reserved = new Set<string>();
  private readonly lock = new KeyedLock();

  constructor(options: ProjectsOptions) {
    this.options = options;
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

  /** Writes what a crash left unwritten, and finds the projects that there are. */
  async start(): Promise<void> {
    const { store, writer, config } = this.options;
    await makeDirectory(config.Server.projects_path);
    const leftOpen = (await store.labs.list()).map(({ project_id: id }) => id);
    for (const id of leftOpen) {
      await writer.end(id).catch((error: unknown) => {
        log.error('the lab of the last run cannot be written to its file; it is kept in the database', {
          project: id,
          error: messageOf(error),
        });
      });
    }
    await this.scan();
    for (const project of this.list()) project.leftOpen = leftOpen.includes(project.id);
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

  /** Stops and writes everything. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.list().map((project) => this.close(project)));
    await this.options.writer.stop();
  }

  /** In the order of registration. */
  list(): Project[] {
    return [...this.projects.values()];
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
    if (project.state === 'closed' && project.damaged === undefined) await this.rewriteClosed(record);
    await this.options.writer.putProject(record);
    project.record = record;
    this.announce('project.updated', project);
    for (const compute of project.hosts) {
      await compute.put(`/projects/${project.id}`, { body: { variables: record.variables } });
    }
    return project;
  }

  private async movedTo(project: Project, path: string): Promise<string> {
    const target = await placeFor(project.id, path, this.rules);
    await makeDirectory(target);
    return target;
  }

  /** The file of a closed project gets the new settings; its content stays. */
  private async rewriteClosed(record: ProjectRecord): Promise<void> {
    const path = join(record.path, record.filename);
    if (!(await hasFile(record))) return;
    const { topology } = (await readTopologyFile(path, { version: this.version })).topology;
    const contents = topology as unknown as Parameters<typeof topologyOf>[1];
    await writeTopologyFile(path, topologyOf(record, contents, this.version));
  }

  /** Opens a project; nothing happens when it is open. */
  async open(project: Project): Promise<Project> {
    if (project.state === 'closing')
      throw new Failure('conflict', `The project "${project.record.name}" is closing; try again.`);
    if (project.state === 'opening') await project.opening;
    if (project.state !== 'closed') return project;
    project.state = 'opening';
    project.opening = this.openNow(project).finally(() => {
      project.opening = undefined;
    });
    await project.opening;
    return project;
  }

  private async openNow(project: Project): Promise<void> {
    await using undo = new AsyncDisposableStack();
    undo.defer(() => {
      project.state = 'closed';
    });
    // The file is what is read: changes that could not be written when the lab was closed (a full disk) come first.
    await this.options.writer.flush(project.id);
    undo.defer(async () => {
      project.clear();
      await this.options.store.labs.end(project.id);
    });
    const before = project.record;
    undo.defer(() => {
      project.record = before;
    });
    let found: boolean;
    try {
      found = await openLab(project, { ...this.options, version: this.version }, undo);
    } catch (error) {
      await undo.disposeAsync();
      throw error;
    }
    undo.move();
    project.damaged = undefined;
    project.leftOpen = false;
    project.state = 'opened';
    if (!found) return;
    this.announce('project.opened', project);
    if (project.record.auto_start) {
      startAll(project).catch((error: unknown) =>
        log.warn('auto_start failed', { project: project.id, error: messageOf(error) }),
      );
    }
  }

  /**
   * Closes an open project, lets `change` exchange its files, and opens it again; clients hear of the opening alone. When the change
   * or the opening fails, the steps that `change` registered are undone and the project opens as it was.
   */
  async reopen(project: Project, change: (undo: AsyncDisposableStack) => Promise<void>): Promise<void> {
    await this.options.writer.flush(project.id);
    project.requireOpen();
    project.state = 'opening';
    project.opening = this.exchange(project, change).finally(() => {
      project.opening = undefined;
    });
    await project.opening;
  }

  private async exchange(project: Project, change: (undo: AsyncDisposableStack) => Promise<void>): Promise<void> {
    await using undo = new AsyncDisposableStack();
    try {
      await stopAll(project).catch(() => {});
      await closeOnComputes(project);
      await this.options.writer.end(project.id);
      project.clear();
      await change(undo);
      await this.openNow(project);
      undo.move();
    } catch (error) {
      await undo.disposeAsync().catch((second: unknown) => {
        log.error('files of a project cannot be put back', { project: project.id, error: messageOf(second) });
      });
      project.state = 'opening';
      await this.openNow(project).catch((second: unknown) => {
        log.error('a project does not open as it was', { project: project.id, error: messageOf(second) });
        this.announce('project.closed', project);
      });
      throw error;
    }
  }

  /** Stops the nodes, writes the file, forgets the lab. Nothing happens unless the project is open. */
  async close(project: Project): Promise<void> {
    if (project.state === 'opening') await project.opening?.catch(() => {});
    if (project.state !== 'opened') return;
    project.state = 'closing';
    await stopAll(project).catch(() => {});
    await closeOnComputes(project);
    await this.options.drawings.removeUnused(project);
    try {
      await this.options.writer.end(project.id);
    } finally {
      project.state = 'closed';
      this.announce('project.closed', project);
      project.clear();
    }
  }

  /** Closes the open projects that use a compute. */
  async closeUsing(compute: Compute): Promise<void> {
    const using = this.list().filter(({ state, hosts }) => state !== 'closed' && hosts.has(compute));
    await Promise.all(using.map((project) => this.close(project)));
  }

  /** Deletes a project with its directory; with `abandon` whatever stays behind on computes that are not there. */
  async delete(project: Project, { abandon = false } = {}): Promise<void> {
    const { path } = project.record;
    if (!(await isBelow(this.options.config.Server.projects_path, path))) {
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
    try {
      await rm(path, { recursive: true, force: true });
    } catch (error) {
      throw new Failure(
        'conflict',
        `The directory ${path} cannot be removed (${systemCode(error) ?? messageOf(error)}): check its permissions.`,
      );
    }
    await this.options.writer.forget(project.id);
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

  /** Nodes, links or drawings of a closed project, word for word as its file has them. */
  async stored(project: Project, kind: 'nodes' | 'links' | 'drawings'): Promise<object> {
    if (!(await hasFile(project.record))) return [];
    const path = join(project.record.path, project.record.filename);
    // Reading it as an opening would checks the file, and brings one of an older revision up to date.
    await readTopologyFile(path, { version: this.version });
    const document = parseJsonBounded(await readFile(path, 'utf8')) as Topology;
    return document.topology[kind];
  }

  /** A listener of the project's notifications left: without any other, a project with `auto_close` is closed a little later. */
  listenerLeft(project: Project): void {
    const { announcer } = this.options;
    const lonely = (): boolean => project.record.auto_close && announcer.project.listeners(project.id) === 0;
    if (!lonely()) return;
    setTimeout(() => {
      if (lonely())
        this.close(project).catch((error: unknown) =>
          log.warn('auto_close failed', { project: project.id, error: messageOf(error) }),
        );
    }, AUTO_CLOSE).unref();
  }
}
