// All projects with their names and directories, and the names and directories reserved for new ones.

import { readdir } from 'node:fs/promises';
import type { ControllerEvents } from '../../api/events.ts';
import type { Config } from '../../config/schema.ts';
import { conflict, notFound } from '../../failures.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import type { Store } from '../../store/store.ts';
import { type Announcer, forgetEvents } from '../events.ts';
import type { PendingRemoteChanges } from '../lab/pending-remote-changes.ts';
import { Project } from '../lab/project.ts';
import { mustBeVacant, placeFor, refuseShared } from './project-paths.ts';

export interface CatalogueOptions {
  config: Config;
  store: Store;
  announcer: Announcer;
  remoteChanges: PendingRemoteChanges;
}

/** A directory in use by a project. */
type Place = Pick<ProjectRecord, 'name' | 'path'>;

export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #projects = new Map<string, Project>();
  /** Names of projects that are being created or renamed. */
  readonly #reservedNames = new Set<string>();
  /** Directories of projects that are being created or moved. */
  readonly #reservedPlaces = new Set<Place>();
  readonly #placing = new KeyedLock();
  /** Projects with the same id are created one at a time. */
  readonly #arrivals = new KeyedLock();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  announce(action: Extract<keyof ControllerEvents, `project.${string}`>, project: Project): void {
    this.#options.announcer.controller.emit(action, project.json());
  }

  /** In order of registration. */
  list(): Project[] {
    return [...this.#projects.values()];
  }

  find(id: string): Project | undefined {
    return this.#projects.get(id);
  }

  get(id: string): Project {
    const project = this.#projects.get(id);
    if (!project) throw notFound(`project_id: there is no lab ${id}.`);
    return project;
  }

  /** The project, after waiting for a pending opening; it may be closed. */
  async settled(id: string): Promise<Project> {
    const project = this.get(id);
    await project.settled();
    return project;
  }

  /** As `settled`, but refuses a closed project. */
  async opened(id: string): Promise<Project> {
    const project = await this.settled(id);
    project.requireOpen();
    return project;
  }

  /** Changes a project's files while no other server may. @throws Failure `conflict` when one has it open */
  whileOwning<T>(project: Project, work: () => Promise<T>): Promise<T> {
    return this.#options.store.locks.during(project.record, work);
  }

  /** Registers a project unless its id is known; returns the registered one. */
  register(project: Project): Project {
    const known = this.#projects.get(project.id);
    if (known) return known;
    this.#projects.set(project.id, project);
    forgetEvents(this.#options.announcer, project.id);
    this.announce('project.created', project);
    return project;
  }

  /** Registers a closed project whose directory is in place. */
  async adopt(record: ProjectRecord): Promise<Project> {
    await this.#options.store.projects.put(record);
    return this.register(new Project(record, this.#options.remoteChanges));
  }

  /** Removes a project; changes that wait for their turn fail with `not-found`. */
  remove(project: Project): void {
    project.become('deleted');
    forgetEvents(this.#options.announcer, project.id);
    // While its sharing is still known.
    this.announce('project.deleted', project);
    this.#projects.delete(project.id);
  }

  /**
   * Runs a task that may register a project with this id, one at a time: a second task finds the first one's project.
   */
  arriving<T>(id: string, task: () => Promise<T>): Promise<T> {
    return this.#arrivals.run(id, task);
  }

  #isTaken(name: string): boolean {
    return this.#reservedNames.has(name) || this.list().some(({ record }) => record.name === name);
  }

  #keepName(name: string, held: AsyncDisposableStack): void {
    this.#reservedNames.add(name);
    held.defer(() => void this.#reservedNames.delete(name));
  }

  /** Reserves a name for a project while `held` lasts. @throws Failure `conflict` when it is taken */
  takeName(name: string, held: AsyncDisposableStack): void {
    if (this.#isTaken(name)) throw conflict(`name: there is already a lab "${name}"; choose another name.`);
    this.#keepName(name, held);
  }

  /**
   * Reserves the name while `held` lasts; a number is appended if a project or a file in the projects directory has it.
   */
  async reserveName(wanted: string, held: AsyncDisposableStack): Promise<string> {
    const names = new Set(await readdir(this.#options.config.Server.projects_path).catch(() => []));
    let name = wanted;
    for (let number = 1; names.has(name) || this.#isTaken(name); number += 1) name = `${wanted}-${number}`;
    this.#keepName(name, held);
    return name;
  }

  /** The directories of all projects that have their own, except for one project. */
  others(but?: Project): Place[] {
    return this.list().flatMap((project) => (project === but || project.foreign ? [] : [project.record]));
  }

  /**
   * The directory for a project: the client's path, or a folder named by its id. @throws Failure `forbidden` for a
   * forbidden place
   */
  placeOf(id: string, path: string | null | undefined): Promise<string> {
    const { projects_path: root, local } = this.#options.config.Server;
    return placeFor(id, path, { root, local });
  }

  /**
   * Reserves a directory for a project while `held` lasts; of two concurrent requests one gets it. Check only
   * afterwards whether an existing project uses it, so that no request can slip in between.
   * @throws Failure `conflict` when it is, contains or is in a reserved one
   */
  keepPlace(place: Place, held: AsyncDisposableStack): Promise<void> {
    return this.#placing.run('', async () => {
      await refuseShared(place.path, this.#reservedPlaces);
      this.#reservedPlaces.add(place);
      held.defer(() => void this.#reservedPlaces.delete(place));
    });
  }

  /**
   * Chooses and reserves a project's directory while `held` lasts.
   * @throws Failure `forbidden` for a forbidden place, `conflict` when it is, contains or is in another project's
   */
  async takePlace(
    { id, name, path }: { id: string; name: string; path: string | null | undefined },
    held: AsyncDisposableStack,
  ): Promise<string> {
    const place = await this.placeOf(id, path);
    await this.keepPlace({ name, path: place }, held);
    if (path) await refuseShared(place, this.others(this.find(id)));
    return place;
  }

  /**
   * As `takePlace`, for a project that arrives as a whole: the place must be vacant. @throws Failure `forbidden`,
   * `conflict`
   */
  async takeVacantPlace(
    wanted: { id: string; name: string; path: string | undefined },
    held: AsyncDisposableStack,
  ): Promise<string> {
    const place = await this.takePlace(wanted, held);
    await mustBeVacant(place);
    return place;
  }
}
