// The projects that are open on this compute.
import { randomUUID } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type * as v from 'valibot';
import type { ProjectCreate } from '../../api/routes/compute.ts';
import { conflict, forbidden, invalid, notFound } from '../../failures.ts';
import { fileFailure } from '../../host/files/atomic-file.ts';
import { makeDirectory, removeEmptyDirectories } from '../../host/files/directories.ts';
import { disjointPaths } from '../../host/files/disjoint-paths.ts';
import { isBelow, resolveExisting } from '../../host/files/relative-path.ts';
import { refuseReservedNames } from '../../host/files/reserved-names.ts';
import { log } from '../../host/log.ts';
import { diskUsage } from '../../host/processes/host-statistics.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { mustBeUuid } from '../identifiers.ts';
import type { Services } from '../services.ts';
import { endUnclaimed } from '../unclaimed-programs.ts';
import { Project } from './project.ts';

/** Usage of the file system, in percent, from which a new project causes a warning. */
const DISK_FULL_PERCENT = 90;

export class Projects {
  readonly #services: Services;
  readonly #open = new Map<string, Project>();
  /** Opens and closes of the same project run one after the other. */
  readonly #lock = new KeyedLock();

  constructor(services: Services) {
    this.#services = services;
  }

  /** In the order of creation. */
  list(): Project[] {
    return [...this.#open.values()];
  }

  /** @throws Failure `invalid` for an invalid UUID, `not-found` if the project is not open */
  get(id: string): Project {
    const project = this.#open.get(mustBeUuid('project_id', id));
    if (project) return project;
    throw notFound(`project_id: project ${id} is not open on this compute.`);
  }

  /** Opens a project and creates its directory. An open one is returned unchanged. */
  create(body: v.InferOutput<typeof ProjectCreate>): Promise<Project> {
    const id = body.project_id ?? randomUUID();
    return this.#lock.run(id, async () => {
      const known = this.#open.get(id);
      if (known) return known;
      await using undo = new AsyncDisposableStack();
      const path = await this.#makeDirectory(id, body.path ?? this.#placeOf(id), undo);
      const project = new Project({ id, name: body.name, path, variables: body.variables ?? null }, this.#services);
      undo.defer(() => project.close());
      await project.start();
      undo.move();
      this.#open.set(id, project);
      await this.#warnOfFullDisk(project);
      return project;
    });
  }

  /** Stops its nodes and closes it. Files stay. */
  close(id: string): Promise<void> {
    return this.#end(id, (project) => project.close());
  }

  /** Closes it and deletes its directory. */
  delete(id: string): Promise<void> {
    return this.#end(id, async (project) => {
      await project.close();
      await project.removeFiles();
    });
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.list().map((project) => this.close(project.id)));
  }

  #end(id: string, task: (project: Project) => Promise<void>): Promise<void> {
    this.get(id);
    return this.#lock.run(id, async () => {
      const project = this.get(id);
      // First make it unfindable, so that nothing new starts in it.
      this.#open.delete(id);
      await task(project);
      await endUnclaimed(this.#services, (projectId) => projectId === id);
    });
  }

  /** The real path of the directory, created if missing. Permission is checked before anything is created. */
  async #makeDirectory(id: string, wanted: string, undo: AsyncDisposableStack): Promise<string> {
    const { projects_path: allowed, local } = this.#services.config.Server;
    if (!isAbsolute(wanted)) throw invalid(`path: "${wanted}" is not absolute; begin it with a "/".`);
    try {
      const path = await resolveExisting(wanted);
      const root = await resolveExisting(allowed);
      if (root === path || isBelow(path, root)) {
        throw forbidden(`path: ${wanted} holds all projects; name a directory below ${allowed}.`);
      }
      if (!local && !isBelow(root, path)) {
        throw forbidden(`path: ${wanted} is outside of ${allowed}, which only local mode allows.`);
      }
      refuseReservedNames(path, `path: ${wanted}`);
      await this.#refuseShared(id, path, wanted);
      const made = await makeDirectory(path, wanted);
      if (made !== undefined) undo.defer(() => removeEmptyDirectories(path, made));
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
      return path;
    } catch (thrown) {
      throw fileFailure(thrown, wanted);
    }
  }

  /** A project's default directory. */
  #placeOf(id: string): string {
    return join(this.#services.config.Server.projects_path, id);
  }

  /**
   * @throws Failure `conflict` for a directory that is another project's, contains one, or is in one: they would share
   * files
   */
  async #refuseShared(id: string, path: string, wanted: string): Promise<void> {
    if (wanted === this.#placeOf(id)) return;
    const known = await this.#services.otherProjects();
    // The server's own project at this path was already checked. Open projects are skipped then: a client may have
    // opened its folder under another id.
    const isOurs = known.some((project) => project.id === id && project.path === wanted);
    const others = isOurs ? known : [...known, ...this.list()];
    for (const other of others) {
      if (other.id === id || (await disjointPaths(path, other.path))) continue;
      throw conflict(`path: ${wanted} belongs to the project ${other.id}; name another directory.`);
    }
  }

  async #warnOfFullDisk({ id, path }: Project): Promise<void> {
    const used = await diskUsage(path).catch(() => 0);
    if (used < DISK_FULL_PERCENT) return;
    const message = `The disk of ${path} is ${Math.trunc(used)} % full; free space before nodes fail for want of it.`;
    log.warn('disk nearly full', { project: id, path, used: Math.trunc(used) });
    this.#services.events.emit('log.warning', { message }, id);
  }
}
