// The first moments of a server: what a former life of it has left unwritten, which projects there are, and which of them were open.
import type { Config } from '../../config/schema.ts';
import { messageOf } from '../../failures.ts';
import { makeDirectory } from '../../host/files/directories.ts';
import { isBelow } from '../../host/files/relative-path.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import type { OpeningParts } from '../lab/opening.ts';
import { Project } from '../lab/project.ts';
import type { ProjectLife } from '../lab/project-life.ts';
import type { Catalogue } from './catalogue.ts';
import { settleMoves } from './moving.ts';
import { forgetDeleted } from './removal.ts';
import { scanProjects } from './scan.ts';

export interface RestartOptions extends Omit<OpeningParts, 'version'> {
  config: Config;
  catalogue: Catalogue;
  life: ProjectLife;
  /** Told of each project that nobody knew. */
  found: (projectId: string) => Promise<void>;
  /** Told of each project that is not on the disk any more, before it is forgotten. */
  lost: (projectId: string) => Promise<void>;
}

export class Restart {
  readonly #options: RestartOptions;
  readonly #catalogue: Catalogue;
  /** Projects that were open when a former life of this server ended, whether they can be found or not. */
  #formerlyOpen: ReadonlySet<string> = new Set();

  constructor(options: RestartOptions) {
    this.#options = options;
    this.#catalogue = options.catalogue;
  }

  /** Whether it was open when a former life of this server ended. */
  wasOpen(id: string): boolean {
    return this.#formerlyOpen.has(id);
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
    const damaged = await store.projects.damaged();
    for (const id of recorded) await writer.flush(id).catch(unwritten(id));
    await this.scan(new Set(recorded));
    await this.#mend(damaged.filter((id) => recorded.includes(id)));
    for (const project of this.#catalogue.list()) {
      project.leftOpen = leftOpen.includes(project.id) && project.damaged === undefined;
    }
    for (const id of recorded) {
      const project = this.#catalogue.find(id);
      if (project?.leftOpen) continue;
      if (project === undefined && damaged.includes(id)) {
        log.error(
          'lab is kept in the database: its project record is damaged, and no file of it is in the projects directory',
          {
            project: id,
          },
        );
        continue;
      }
      const isClosing = project?.damaged === undefined && !leftOpen.includes(id);
      await (project && isClosing ? this.#options.life.endClosing(project) : writer.end(id)).catch(unwritten(id));
    }
    await forgetDeleted(store, {
      root: config.Server.projects_path,
      found: new Set(this.#catalogue.list().map(({ id }) => id)),
      lost: this.#options.lost,
    });
  }

  /** Gives labs whose project records are damaged those of their files, and writes what these do not have. */
  async #mend(damaged: readonly string[]): Promise<void> {
    const { store, writer } = this.#options;
    for (const id of damaged) {
      const project = this.#catalogue.find(id);
      if (project === undefined || project.damaged !== undefined) continue;
      log.warn('damaged record of a project replaced by what its file says', {
        project: id,
        path: project.record.path,
      });
      await store.projects.put(project.record);
      await writer.flush(id);
    }
  }

  /**
   * Opens the labs that were open when a former life of this server ended without closing them: nodes that run on are taken back, and
   * their cables and captures made anew. Never rejects.
   */
  async reopenAll(): Promise<void> {
    const { announcer } = this.#options;
    const begin = performance.now();
    const left = this.#catalogue.list().filter(({ leftOpen }) => leftOpen);
    await eachOf(left, left.length, async (project) => {
      try {
        await this.#options.life.open(project);
      } catch (error) {
        const message = `The lab "${project.record.name}" was open and does not open again: ${messageOf(error)}`;
        log.error(message, { project: project.id });
        announcer.project.emit('log.error', { message }, project.id);
      }
    });
    if (left.length > 0) {
      log.info('labs are open again', { labs: left.length, milliseconds: Math.round(performance.now() - begin) });
    }
  }

  /** The database says of labs that were `leftOpen` what their files are to say: those are recorded when they are open. */
  async scan(leftOpen: ReadonlySet<string> = new Set()): Promise<void> {
    const { store, config } = this.#options;
    const stored = await store.projects.list();
    const { projects_path: root, version } = config.Server;
    // What is in the state directory is this server's.
    const isOthers = isBelow(config.state, root) ? async () => false : store.locks.isOthers.bind(store.locks);
    const found = await scanProjects(root, { version, known: stored, isOthers });
    const formerly = new Set([...leftOpen, ...stored.map(({ project_id: id }) => id)]);
    const ids = new Set(found.map(({ record }) => record.project_id));
    for (const project of this.#catalogue.list().filter(({ id, damaged }) => damaged !== undefined && !ids.has(id))) {
      await this.#options.lost(project.id);
      this.#catalogue.remove(project);
    }
    for (const { record, damaged, foreign = false } of found) {
      const known = this.#catalogue.find(record.project_id);
      if (known && known.state !== 'closed') continue;
      if (!known && !formerly.has(record.project_id)) await this.#options.found(record.project_id);
      const project = known ?? this.#catalogue.register(new Project(record, this.#options.traces));
      project.damaged = damaged;
      project.foreign = foreign;
      if (damaged === undefined && !leftOpen.has(record.project_id)) await store.projects.put(record);
    }
  }
}
