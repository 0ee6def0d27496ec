// Nodes that are off only until they have been moved, kept for a server that finds a move unfinished.
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { DocumentChange, Documents } from '../../store/documents.ts';
import type { Announcer } from '../events.ts';
import { startThese } from '../lab/actions.ts';
import type { Project } from '../lab/project.ts';
import type { Node } from '../nodes/node.ts';
import type { Projects } from '../projects/projects.ts';

const KIND = 'due-starts';

export interface DueStartsOptions {
  documents: Documents;
  projects: Projects;
  announcer: Announcer;
}

export class DueStarts {
  readonly #options: DueStartsOptions;
  /** Ids of their labs, by their own. */
  readonly #noted = new Map<string, string>();
  /** Those that this server is moving or starting. */
  readonly #worked = new Set<string>();
  #isStopped = false;

  constructor(options: DueStartsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#options.documents.list(KIND))
      this.#noted.set(id, String(body['project_id']));
  }

  has(id: string): boolean {
    return this.#noted.has(id);
  }

  /**
   * Runs what moves these nodes and then starts them. They stay due if this server ends meanwhile, or a host that they
   * have been moved to is lost.
   */
  async during<T>(project: Project, nodes: readonly Node[], work: () => Promise<T>): Promise<T> {
    const sources = new Map(nodes.map((node) => [node, node.compute]));
    const ids = nodes.map(({ id }) => id);
    for (const id of ids) {
      this.#noted.set(id, project.id);
      this.#worked.add(id);
    }
    await this.#write(ids, { project_id: project.id });
    try {
      return await work();
    } finally {
      for (const id of ids) this.#worked.delete(id);
      const settled = nodes.filter((node) => node.compute.connected || node.compute === sources.get(node));
      await this.#forget(settled.map(({ id }) => id));
    }
  }

  /** Starts those that were left off in the labs that are open, on the hosts that are reached. Never rejects. */
  async startLeft(): Promise<void> {
    const left = [...this.#noted].filter(([id]) => !this.#worked.has(id));
    for (const [projectId, entries] of Map.groupBy(left, ([, lab]) => lab)) {
      const project = this.#options.projects.find(projectId);
      await project?.settled();
      const ids = entries.map(([id]) => id).filter((id) => this.#noted.has(id) && !this.#worked.has(id));
      if (project?.isOpen) await this.#startIn(project, ids);
      // A host that comes back may open it.
      else if (!project?.leftOpen) await this.#forget(ids);
    }
  }

  async #startIn(project: Project, ids: readonly string[]): Promise<void> {
    const isAway = ({ lost, compute }: Node): boolean => lost || !compute.connected;
    const reached = ids.filter((id) => {
      const node = project.nodes.get(id);
      return !node || !isAway(node);
    });
    const off = reached.flatMap((id) => project.nodes.get(id) ?? []).filter(({ status }) => status === 'stopped');
    for (const id of reached) this.#worked.add(id);
    const failure = await startThese(project, new Set(off)).then(() => undefined, messageOf);
    for (const id of reached) this.#worked.delete(id);
    if (failure !== undefined) {
      const message = `Not all nodes that were off for a move could be started: ${failure}`;
      this.#options.announcer.project.emit('log.warning', { message }, project.id);
    }
    await this.#forget(reached.filter((id) => !off.some((node) => node.id === id && isAway(node))));
  }

  async #forget(ids: readonly string[]): Promise<void> {
    // What a server that ends interrupts is for the next one.
    if (this.#isStopped) return;
    for (const id of ids) this.#noted.delete(id);
    await this.#write(ids, undefined);
  }

  /** Without the note nodes that a kill leaves off stay off, which is no reason to leave them on a lost host. */
  async #write(ids: readonly string[], body: object | undefined): Promise<void> {
    if (ids.length === 0) return;
    const changes = ids.map((id): DocumentChange => ({ kind: KIND, id, body }));
    await this.#options.documents.change(changes).catch((error: unknown) => {
      log.warn('cannot note which nodes are to be started', { nodes: ids.length, reason: messageOf(error) });
    });
  }

  stop(): void {
    this.#isStopped = true;
  }
}
