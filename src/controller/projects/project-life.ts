// The life of a project: opening, closing, closing by itself, and exchanging its files while it is open.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, messageOf } from '../../failures.ts';
import { eachOf } from '../../host/each-of.ts';
import { log } from '../../host/log.ts';
import { startAll, stopAll } from '../nodes/actions.ts';
import type { Node } from '../nodes/node.ts';
import { closeOnComputes, type OpeningParts, openLab } from './opening.ts';
import type { Project } from './project.ts';

/** How often, and every how many milliseconds, a compute is looked for whose nodes run on. */
const CONNECTING_ATTEMPTS = 10;
const CONNECTING_INTERVAL = 1_000;
/** Nodes that are asked for at the same time. */
const LOOKS_AT_ONCE = 8;

function isRunning(node: Node): boolean {
  return node.status !== 'stopped' && !node.alwaysRunning;
}

export class ProjectLife {
  private readonly parts: OpeningParts;
  private readonly autoCloseGrace: number;

  /** @param autoCloseGrace seconds after which a project with `auto_close` is closed when its last listener has left */
  constructor(parts: OpeningParts, autoCloseGrace: number) {
    this.parts = parts;
    this.autoCloseGrace = autoCloseGrace;
  }

  private announce(action: 'project.opened' | 'project.closed', project: Project): void {
    this.parts.announcer.controller.emit(action, project.json());
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
    await this.parts.writer.flush(project.id);
    if (project.leftOpen) await this.awaitComputes(project);
    undo.defer(async () => {
      project.clear();
      // One that was left open is tried again, now or by the next life of this server.
      if (!project.leftOpen) await this.parts.store.labs.end(project.id);
    });
    const before = project.record;
    undo.defer(() => {
      project.record = before;
    });
    let found: boolean;
    try {
      found = await openLab(project, this.parts, undo);
    } catch (error) {
      await undo.disposeAsync();
      throw error;
    }
    undo.move();
    const runsOn = project.leftOpen && [...project.nodes.values()].some(isRunning);
    project.damaged = undefined;
    project.leftOpen = false;
    project.unended = false;
    project.state = 'opened';
    if (!found) return;
    this.announce('project.opened', project);
    if (runsOn) await this.lookAgain(project);
    // In a lab that is taken back as it was, nodes that were stopped stay so.
    if (project.record.auto_start && !runsOn) {
      startAll(project).catch((error: unknown) =>
        log.warn('auto_start failed', { project: project.id, error: messageOf(error) }),
      );
    }
  }

  /** What has ended while the lab was being opened was announced when nobody knew the node yet. */
  private async lookAgain(project: Project): Promise<void> {
    const running = [...project.nodes.values()].filter(isRunning);
    await eachOf(running, LOOKS_AT_ONCE, async (node) => {
      const object = (await node.compute.get(node.path)) as Record<string, unknown>;
      await this.parts.nodes.compare(project, node, object);
    }).catch((error: unknown) => log.warn('a node cannot be compared', { reason: messageOf(error) }));
  }

  /** The computes of a lab that is taken back may come back a little later than this server. */
  private async awaitComputes(project: Project): Promise<void> {
    const { store, computes } = this.parts;
    const lab = await store.labs.load(project.id);
    const used = new Set(lab?.nodes.map((node) => String(node['compute_id'])));
    used.delete('local');
    for (const compute of computes.list().filter(({ id }) => used.has(id))) {
      for (let attempt = 0; attempt < CONNECTING_ATTEMPTS && !compute.connected; attempt++) {
        if (attempt > 0) await sleep(CONNECTING_INTERVAL);
        await compute.connect().catch(() => {});
      }
    }
  }

  /**
   * Closes an open project, lets `change` exchange its files, and opens it again; clients hear of the opening alone. When the change
   * or the opening fails, the steps that `change` registered are undone and the project opens as it was.
   */
  async reopen(project: Project, change: (undo: AsyncDisposableStack) => Promise<void>): Promise<void> {
    await this.parts.writer.flush(project.id);
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
      await this.parts.writer.end(project.id);
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
    if (project.leftOpen || project.unended) await this.parts.writer.end(project.id);
    project.leftOpen = false;
    project.unended = false;
    if (project.state !== 'opened') return;
    project.state = 'closing';
    await stopAll(project).catch(() => {});
    await closeOnComputes(project);
    await this.parts.drawings.removeUnused(project);
    project.unended = true;
    try {
      await this.parts.writer.end(project.id);
      project.unended = false;
    } finally {
      project.state = 'closed';
      this.announce('project.closed', project);
      project.clear();
    }
  }

  /** A listener of the project's notifications left: without any other, a project with `auto_close` is closed a little later. */
  listenerLeft(project: Project): void {
    const { announcer } = this.parts;
    const lonely = (): boolean => project.record.auto_close && announcer.project.listeners(project.id) === 0;
    if (!lonely()) return;
    setTimeout(() => {
      if (lonely())
        this.close(project).catch((error: unknown) =>
          log.warn('auto_close failed', { project: project.id, error: messageOf(error) }),
        );
    }, this.autoCloseGrace * 1000).unref();
  }
}
