// Restores the state at the start of a server: unwritten changes of the previous run, the list of projects, and the open ones.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config/schema.ts';
import { Failure, ignore, messageOf } from '../../failures.ts';
import { makeDirectory } from '../../host/files/directories.ts';
import { isBelow } from '../../host/files/relative-path.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import { hasTopologyFile } from '../../store/topology/file.ts';
import { EVERYTHING } from '../lab/change-queue.ts';
import type { OpeningParts } from '../lab/opening.ts';
import { Project } from '../lab/project.ts';
import type { ProjectLife } from '../lab/project-life.ts';
import type { Catalogue } from './catalogue.ts';
import { settleMoves } from './move-project.ts';
import { forgetDeleted } from './removal.ts';
import { type FoundProject, scanProjects } from './scan.ts';

/** How long (ms) until the next attempt to reopen a lab, after one that the store refused. */
const AGAIN_MS = 1_000;

export interface RestartOptions extends Omit<OpeningParts, 'version'> {
  config: Config;
  catalogue: Catalogue;
  life: ProjectLife;
  /** Called with each new project. */
  found: (projectId: string) => Promise<void>;
  /** Called with each project that is missing from the disk, before it is removed. */
  lost: (projectId: string) => Promise<void>;
}

export class Restart {
  readonly #options: RestartOptions;
  readonly #catalogue: Catalogue;
  /** Projects that were open when the previous run ended, whether or not they can be found. */
  #formerlyOpen: ReadonlySet<string> = new Set();
  readonly #ending = new AbortController();

  constructor(options: RestartOptions) {
    this.#options = options;
    this.#catalogue = options.catalogue;
  }

  /** Whether it was open when the previous run ended. */
  wasOpen(id: string): boolean {
    return this.#formerlyOpen.has(id);
  }

  /**
   * Writes changes that a crash left unwritten, and finds the projects; `reopenAll` then reopens those that were open.
   */
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

  /** Replaces damaged project records with those in the labs' files, and writes what is missing in these. */
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
   * Reopens the labs that the previous run left open: running nodes are reattached, their cables and captures
   * recreated. Never rejects.
   */
  async reopenAll(): Promise<void> {
    const { announcer } = this.#options;
    const begin = performance.now();
    const left = this.#catalogue.list().filter(({ leftOpen }) => leftOpen);
    await eachOf(left, left.length, async (project) => {
      try {
        await this.#reopen(project);
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

  /** Again while the store takes no changes, as without NATS. */
  async #reopen(project: Project): Promise<void> {
    const { signal } = this.#ending;
    for (;;) {
      try {
        await this.#options.life.open(project);
        return;
      } catch (error) {
        if (signal.aborted || !(error instanceof Failure && error.code === 'unavailable')) throw error;
        log.info('a lab does not open again yet', { project: project.id, reason: messageOf(error) });
      }
      await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(ignore);
      // It may have been closed meanwhile.
      if (signal.aborted || !project.leftOpen) return;
    }
  }

  /** No lab is reopened any more. */
  stop(): void {
    this.#ending.abort();
  }

  /** While the database has a lab, it is right, not the file: such labs, `leftOpen` at a start, are not recorded. */
  async scan(leftOpen: ReadonlySet<string> = new Set()): Promise<void> {
    const { store, config } = this.#options;
    const stored = await store.projects.list();
    const before = new Map(this.#catalogue.list().map(({ id, record }) => [id, record]));
    const { projects_path: root, version } = config.Server;
    // Projects in the state directory belong to this server.
    const isOthers = isBelow(config.state, root) ? async () => false : store.locks.isOthers.bind(store.locks);
    const found = await scanProjects(root, { version: version.v2.number, known: stored, isOthers });
    const ids = new Set(found.map(({ record }) => record.project_id));
    for (const project of this.#catalogue.list().filter(({ id, damaged }) => damaged !== undefined && !ids.has(id))) {
      await this.#options.lost(project.id);
      this.#catalogue.remove(project);
    }
    // Clients may have created, changed or deleted projects since these files were read.
    for (const each of found) {
      const id = each.record.project_id;
      const known = this.#catalogue.find(id);
      if (known === undefined) await this.#catalogue.arriving(id, () => this.#discover(each, leftOpen));
      else
        await known.changes.run(EVERYTHING, async () => {
          if (known.state === 'closed' && known.record === before.get(id)) await this.#record(known, each);
        });
    }
  }

  async #discover(found: FoundProject, leftOpen: ReadonlySet<string>): Promise<void> {
    const { project_id: id, path, filename } = found.record;
    // A damaged one may be unreadable.
    const isThere = await hasTopologyFile(join(path, filename)).catch(() => true);
    if (!isThere || this.#catalogue.find(id)) return;
    const isKnown = leftOpen.has(id) || (await this.#options.store.projects.get(id)) !== undefined;
    if (!isKnown) await this.#options.found(id);
    const project = new Project(found.record, this.#options.remoteChanges);
    await this.#record(project, found);
    this.#catalogue.register(project);
  }

  async #record(project: Project, { record, damaged, foreign }: FoundProject): Promise<void> {
    const { labs, projects } = this.#options.store;
    project.damaged = damaged;
    project.foreign = foreign ?? false;
    if (damaged === undefined && (await labs.state(project.id)) === undefined) await projects.put(record);
  }
}
