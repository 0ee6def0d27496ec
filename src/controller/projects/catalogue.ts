// Which projects there are, under which names and in which directories; and what of that is kept for projects that are being made.

import { readdir } from 'node:fs/promises';
import type { ControllerEvents } from '../../api/events.ts';
import type { Config } from '../../config/schema.ts';
import { Failure } from '../../failures.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import type { Store } from '../../store/store.ts';
import { type Announcer, forgetEvents } from '../events.ts';
import { Project } from '../lab/project.ts';
import type { Traces } from '../lab/traces.ts';
import { mustBeVacant, placeFor, refuseShared } from './places.ts';

export interface CatalogueOptions {
  config: Config;
  store: Store;
  announcer: Announcer;
  traces: Traces;
}

/** A directory that is some project's. */
type Place = Pick<ProjectRecord, 'name' | 'path'>;

export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #projects = new Map<string, Project>();
  /** Names of projects that are being made or renamed. */
  readonly #reservedNames = new Set<string>();
  /** Directories of projects that are being made or moved. */
  readonly #reservedPlaces = new Set<Place>();
  readonly #placing = new KeyedLock();
  /** Projects of one id come one after the other. */
  readonly #arrivals = new KeyedLock();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  announce(action: Extract<keyof ControllerEvents, `project.${string}`>, project: Project): void {
    this.#options.announcer.controller.emit(action, project.json());
  }

  /** In the order of registration. */
  list(): Project[] {
    return [...this.#projects.values()];
  }

  find(id: string): Project | undefined {
    return this.#projects.get(id);
  }

  get(id: string): Project {
    const project = this.#projects.get(id);
    if (!project) throw new Failure('not-found', `project_id: there is no lab ${id}.`);
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

  /** Changes files of a project while no other server may. @throws Failure `conflict` when one has it open */
  whileOwning<T>(project: Project, work: () => Promise<T>): Promise<T> {
    return this.#options.store.locks.during(project.record, work);
  }

  /** Takes up a project, unless one of its id is there. Answers the one that is. */
  register(project: Project): Project {
    const known = this.#projects.get(project.id);
    if (known) return known;
    this.#projects.set(project.id, project);
    forgetEvents(this.#options.announcer, project.id);
    this.announce('project.created', project);
    return project;
  }

  /** Takes up a closed project whose directory is in its place. */
  async adopt(record: ProjectRecord): Promise<Project> {
    await this.#options.store.projects.put(record);
    return this.register(new Project(record, this.#options.traces));
  }

  /** Nobody finds it from now on; who waits for a turn is told that it is gone. */
  remove(project: Project): void {
    project.become('deleted');
    forgetEvents(this.#options.announcer, project.id);
    // While it is still known with whom it was shared.
    this.announce('project.deleted', project);
    this.#projects.delete(project.id);
  }

  /** Runs what may register a project of this id when nothing else may: the second one finds the first one's. */
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

  /** Keeps a name for a project while `held` lasts. @throws Failure `conflict` when it is taken */
  takeName(name: string, held: AsyncDisposableStack): void {
    if (this.#isTaken(name))
      throw new Failure('conflict', `name: there is already a lab "${name}"; choose another name.`);
    this.#keepName(name, held);
  }

  /** The name, or with a number behind it if a project or something in the projects directory is called so; kept while `held` lasts. */
  async reserveName(wanted: string, held: AsyncDisposableStack): Promise<string> {
    const names = new Set(await readdir(this.#options.config.Server.projects_path).catch(() => []));
    let name = wanted;
    for (let number = 1; names.has(name) || this.#isTaken(name); number += 1) name = `${wanted}-${number}`;
    this.#keepName(name, held);
    return name;
  }

  /** The directories of all projects that have one of their own, but for one of them. */
  others(but?: Project): Place[] {
    return this.list().flatMap((project) => (project === but || project.foreign ? [] : [project.record]));
  }

  /** Where a project is to be, at the path that a client names or in a folder called after its id. @throws Failure `forbidden` where it must not be */
  placeOf(id: string, path: string | null | undefined): Promise<string> {
    const { projects_path: root, local } = this.#options.config.Server;
    return placeFor(id, path, { root, local });
  }

  /**
   * Keeps a directory for a project while `held` lasts: of two that ask for one at the same time one gets it. Whether it belongs to a
   * project that is there already is to be asked after that, so that nobody comes in between.
   * @throws Failure `conflict` when it is, holds or is in one that is kept already
   */
  keepPlace(place: Place, held: AsyncDisposableStack): Promise<void> {
    return this.#placing.run('', async () => {
      await refuseShared(place.path, this.#reservedPlaces);
      this.#reservedPlaces.add(place);
      held.defer(() => void this.#reservedPlaces.delete(place));
    });
  }

  /**
   * The directory that a project is to have, kept for it while `held` lasts.
   * @throws Failure `forbidden` where it must not be, `conflict` when it is, holds or is in that of another project
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

  /** The same for a project that comes from elsewhere as a whole: nothing is there yet. @throws Failure `forbidden`, `conflict` */
  async takeVacantPlace(
    wanted: { id: string; name: string; path: string | undefined },
    held: AsyncDisposableStack,
  ): Promise<string> {
    const place = await this.takePlace(wanted, held);
    await mustBeVacant(place);
    return place;
  }
}
