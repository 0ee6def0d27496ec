// Opens projects, closes them (also with `auto_close`), and replaces their files while they are open.
import { setTimeout as sleep } from 'node:timers/promises';
import { conflict, Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import type { Compute } from '../computes/compute.ts';
import type { Node } from '../nodes/node.ts';
import { cancelStarts, startAll, stopAllAtOnce } from './actions.ts';
import { EVERYTHING } from './change-queue.ts';
import { closeOnComputes, type OpeningParts, type OpeningRights, openLab } from './opening.ts';
import type { Project } from './project.ts';

/** How long (ms) a reopened lab waits for its computes; nodes of later ones are lost until then. */
const CONNECTING_LIMIT_MS = 2_000;
/** Nodes queried at the same time. */
const LOOKS_AT_ONCE = 8;

/** Replaces a project's files; `undo` collects the rollback. `before` are the lab's present nodes. */
export type Exchange = (undo: AsyncDisposableStack, before: readonly Node[]) => Promise<void>;

function isRunning(node: Node): boolean {
  return node.status !== 'stopped' && !node.alwaysRunning;
}

export class ProjectLife {
  readonly #parts: OpeningParts;
  readonly #autoCloseGrace: number;
  #closesAlone = true;
  /** The timer of each project whose last listener has left, and when it ends (`performance.now()`). */
  readonly #lonely = new Map<Project, { timer: NodeJS.Timeout; endsAt: number }>();

  /** @param autoCloseGrace seconds after which a project with `auto_close` closes once its last listener has left */
  constructor(parts: OpeningParts, autoCloseGrace: number) {
    this.#parts = parts;
    this.#autoCloseGrace = autoCloseGrace;
  }

  #announce(action: 'project.opened' | 'project.closed', project: Project): void {
    this.#parts.announcer.controller.emit(action, project.json());
  }

  /** Opens a project unless it is open. */
  async open(project: Project, rights?: OpeningRights): Promise<Project> {
    await project.changes.run(EVERYTHING, async () => {
      project.requirePresent();
      if (project.state !== 'closed') return;
      if (project.foreign) throw conflict(`${project.damaged}.`);
      if (!project.leftOpen) await this.#parts.store.labs.beforeOpen(project.id);
      await project.pass('opening', async () => {
        try {
          await this.#openNow(project, rights);
        } catch (error) {
          project.become('closed');
          throw error;
        }
      });
    });
    return project;
  }

  /**
   * Reopens a project that a failed request has closed; for callers that run alone. Never rejects: after a failure it
   * stays closed.
   */
  async openAgain(project: Project): Promise<void> {
    project.become('opening');
    await this.#openNow(project).catch((error: unknown) => {
      log.error('a project does not open again', { project: project.id, error: messageOf(error) });
      project.become('closed');
    });
  }

  /** After a failure the caller sets the state. */
  async #openNow(project: Project, rights?: OpeningRights): Promise<void> {
    await using undo = new AsyncDisposableStack();
    const { locks } = this.#parts.store;
    await locks.hold(project.record);
    undo.defer(async () => {
      if (project.state !== 'exchanging') await locks.release(project.id);
    });
    // The file is read below: first write changes that could not be written when the lab was closed (a full disk).
    await this.#parts.writer.flush(project.id);
    if (project.leftOpen) await this.#awaitComputes(project);
    undo.defer(async () => {
      project.clear();
      // A lab left open is tried again, now or at the next start of the server.
      if (!project.leftOpen && project.state !== 'exchanging') await this.#parts.store.labs.end(project.id);
    });
    const before = project.record;
    undo.defer(() => {
      project.record = before;
    });
    let found: boolean;
    try {
      found = await openLab(project, this.#parts, undo, rights);
    } catch (error) {
      await undo.disposeAsync();
      throw error;
    }
    undo.move();
    const runsOn = project.leftOpen && [...project.nodes.values()].some((node) => node.lost || isRunning(node));
    project.damaged = undefined;
    project.leftOpen = false;
    project.unended = false;
    project.become('opened');
    await this.#parts.remoteChanges.opened(project, this.#parts.computes.list());
    if (!found) return;
    this.#announce('project.opened', project);
    if (runsOn) await this.#lookAgain(project);
    // In a reopened lab, stopped nodes stay stopped.
    if (project.record.auto_start && !runsOn) {
      startAll(project).catch((error: unknown) =>
        log.warn('auto_start failed', { project: project.id, error: messageOf(error) }),
      );
    }
  }

  /** Refreshes running nodes: one that ended while the lab was opening was announced before the node was known. */
  async #lookAgain(project: Project): Promise<void> {
    const running = [...project.nodes.values()].filter(isRunning);
    await eachOf(running, LOOKS_AT_ONCE, async (node) => {
      const object = (await node.compute.get(node.path)) as Record<string, unknown>;
      await this.#parts.nodes.records.compare(project, node, object);
    }).catch((error: unknown) => log.warn('a node cannot be compared', { reason: messageOf(error) }));
  }

  /** The computes of a reopened lab may need a moment to answer. */
  async #awaitComputes(project: Project): Promise<void> {
    const connections = (await this.#computesOf(project))
      .filter(({ id }) => id !== 'local')
      .map((compute) => compute.connect());
    await Promise.race([Promise.allSettled(connections), sleep(CONNECTING_LIMIT_MS, undefined, { ref: false })]);
  }

  /**
   * Closes an open project, lets `exchange` replace its files, and opens it again; clients are notified only of the
   * opening. If either fails, the steps registered by `exchange` are undone and the project reopens as it was.
   * @param exchange gets the lab's present nodes
   */
  async reopen(project: Project, exchange: Exchange): Promise<void> {
    const cancelled = cancelStarts(project);
    await project.changes.run(EVERYTHING, async () => {
      await cancelled;
      project.requireOpen();
      await this.#parts.writer.flush(project.id);
      await project.pass('exchanging', () => this.#exchangeNow(project, exchange));
    });
  }

  async #exchangeNow(project: Project, exchange: Exchange): Promise<void> {
    await using undo = new AsyncDisposableStack();
    try {
      await stopAllAtOnce(project).catch(() => {});
      await closeOnComputes(project);
      const before = [...project.nodes.values()];
      // The database still has the lab: a server killed now reopens it from the files present then.
      await this.#parts.writer.flush(project.id);
      project.clear();
      await exchange(undo, before);
      const absent = new Set(before.filter((node) => node.absent !== undefined).map(({ id }) => id));
      await this.#openNow(project, { mayBeAbsent: (id) => absent.has(id) });
      undo.move();
    } catch (error) {
      await undo.disposeAsync().catch((second: unknown) => {
        log.error('files of a project cannot be put back', { project: project.id, error: messageOf(second) });
      });
      await this.#openNow(project).catch(async (second: unknown) => {
        log.error('a project does not open as it was', { project: project.id, error: messageOf(second) });
        project.become('closed');
        project.unended = true;
        await this.#parts.store.locks.release(project.id);
        this.#announce('project.closed', project);
      });
      throw error;
    }
  }

  /**
   * Stops the nodes, writes the file and forgets the lab. Does nothing unless the project is open.
   * @throws Failure `too-large` if its file could not be read again; it stays open then
   */
  async close(project: Project): Promise<void> {
    const cancelled = cancelStarts(project);
    await project.changes.run(EVERYTHING, async () => {
      await cancelled;
      await this.closeNow(project);
    });
  }

  /** As `close`, for callers that run alone. */
  async closeNow(project: Project, { forDeletion = false } = {}): Promise<void> {
    // After a crash before the files are deleted, the lab must reopen as it was.
    const end = (): Promise<void> =>
      forDeletion ? this.#parts.writer.flush(project.id) : this.#parts.writer.end(project.id);
    if (project.leftOpen) await this.#closeLeft(project);
    if (project.leftOpen || project.unended) await end();
    project.leftOpen = false;
    project.unended = false;
    if (project.state !== 'opened') return;
    // A lab that is too large for its file stays open, so that it can be made smaller.
    if (!forDeletion)
      await this.#parts.writer.flush(project.id).catch((error: unknown) => {
        if (error instanceof Failure && error.code === 'too-large') throw error;
      });
    project.rounds.cancel();
    // From here on it will be closed, if necessary by the next start.
    if (!forDeletion) await this.#parts.store.labs.recordClosing(project.id);
    project.become('closing');
    await stopAllAtOnce(project).catch(() => {});
    await closeOnComputes(project);
    project.unended = true;
    try {
      const { writer, drawings, version } = this.#parts;
      const records = [...project.drawings.values()].map(({ record }) => record);
      await writer.flush(project.id);
      await drawings.removeUnused(project.record, records, version);
      await end();
      project.unended = false;
    } finally {
      project.become('closed');
      this.#announce('project.closed', project);
      project.clear();
    }
  }

  /** A lab that did not open again may still run on its computes. */
  async #closeLeft(project: Project): Promise<void> {
    for (const compute of await this.#computesOf(project)) project.hosts.add(compute);
    await closeOnComputes(project);
  }

  /** Of a lab that is in the database only. */
  async #computesOf(project: Project): Promise<Compute[]> {
    const { store, computes } = this.#parts;
    const lab = await store.labs.load(project.id);
    const used = new Set(lab?.nodes.map((node) => String(node['compute_id'])));
    return computes.list().filter(({ id }) => used.has(id));
  }

  /** Finishes a closing that the end of the previous run interrupted. */
  async endClosing(project: Project): Promise<void> {
    const { store, drawings, writer, version } = this.#parts;
    // If this fails, closing it again retries.
    project.unended = true;
    const lab = await store.labs.load(project.id);
    await writer.flush(project.id);
    if (lab && lab.damaged.length === 0) await drawings.removeUnused(project.record, lab.drawings, version);
    await writer.end(project.id);
    project.unended = false;
  }

  /**
   * A listener of the project's notifications has left: without others, a project with `auto_close` closes a little
   * later.
   */
  listenerLeft(project: Project): void {
    clearTimeout(this.#lonely.get(project)?.timer);
    this.#lonely.delete(project);
    if (!this.#isLonely(project)) return;
    const close = async (): Promise<void> => {
      this.#lonely.delete(project);
      if (!this.#isLonely(project)) return;
      // A client may connect while this waits for its turn.
      await project.changes.run(EVERYTHING, async () => {
        if (this.#isLonely(project)) await this.closeNow(project);
      });
    };
    const graceMs = this.#autoCloseGrace * 1000;
    const timer = setTimeout(() => {
      close().catch((error: unknown) =>
        log.warn('auto_close failed', { project: project.id, error: messageOf(error) }),
      );
    }, graceMs);
    this.#lonely.set(project, { timer: timer.unref(), endsAt: performance.now() + graceMs });
  }

  /** Until `auto_close` closes the project; null if it does not, because it has listeners or never had one. */
  closesInSeconds(project: Project): number | null {
    const lonely = this.#lonely.get(project);
    return lonely && this.#isLonely(project) ? Math.max(0, (lonely.endsAt - performance.now()) / 1000) : null;
  }

  /** From now on `auto_close` closes no project: the server stops, or another host becomes the controller. */
  endAutoClose(): void {
    this.#closesAlone = false;
  }

  #isLonely({ id, record }: Project): boolean {
    return this.#closesAlone && record.auto_close && this.#parts.announcer.project.listeners(id) === 0;
  }
}
