// CPU load of nodes, from their growing processor times.
import type { NodeLoad } from './objects.ts';

/** Figures of a node; null if unknown. */
export interface LoadFigures {
  /** Of one processor. */
  cpu_usage_percent: number | null;
  memory_bytes: number | null;
}

export class NodeLoads {
  #before = new Map<string, NodeLoad>();
  #now = new Map<string, NodeLoad>();
  /** Seconds between the two. */
  #seconds = 0;
  #takenAt: number | undefined;

  /**
   * Takes the server's report on all nodes.
   * @param at milliseconds on a monotonic clock
   */
  take(loads: readonly NodeLoad[], at: number): void {
    this.#seconds = this.#takenAt === undefined ? 0 : (at - this.#takenAt) / 1000;
    this.#takenAt = at;
    this.#before = this.#now;
    this.#now = new Map(loads.map((load) => [load.node_id, load]));
  }

  of(node: string): LoadFigures {
    const now = this.#now.get(node);
    if (!now) return { cpu_usage_percent: null, memory_bytes: null };
    const spent = now.cpu_seconds - (this.#before.get(node)?.cpu_seconds ?? Number.NaN);
    // A program that was started again has spent less than the one before.
    const isKnown = this.#seconds > 0 && spent >= 0;
    const percent = isKnown ? Math.round((spent / this.#seconds) * 1000) / 10 : null;
    return { cpu_usage_percent: percent, memory_bytes: now.memory_bytes };
  }
}
