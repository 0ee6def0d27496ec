// The NIOs of links on other hosts, noted from before they are made or removed until the outcome is known.
import type { LinkEnd } from '../links/link.ts';
import { nioPath } from '../links/wiring.ts';
import type { Trace } from './pending-remote-changes.ts';
import type { Project } from './project.ts';

export class NotedNios implements Disposable {
  readonly #project: Project;
  readonly #traces = new Map<LinkEnd, Trace>();

  constructor(project: Project) {
    this.#project = project;
  }

  async begin(ends: readonly LinkEnd[], options?: { makesRoom: boolean }): Promise<void> {
    const { id, remoteChanges } = this.#project;
    try {
      for (const end of ends) {
        const { compute } = end.node;
        if (compute.id === 'local') continue;
        this.#traces.set(end, await remoteChanges.begin(compute, id, nioPath(end), options));
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** The lab and the computes have them, or neither; what may remain is removed when its host is back. Never rejects. */
  async settle(): Promise<void> {
    for (const [end, trace] of this.#traces) if (!end.mayRemain && !end.node.lost) await trace.settle();
  }

  [Symbol.dispose](): void {
    for (const trace of this.#traces.values()) trace[Symbol.dispose]();
  }
}
