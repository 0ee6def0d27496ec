// What is done to all nodes of a project: one round after the other.
import { KeyedLock } from '../../host/values/keyed-lock.ts';

export class Rounds {
  readonly #lock = new KeyedLock();
  readonly #current = new Set<AbortController>();

  /**
   * Runs a round when those before it have ended.
   * @param task leaves the nodes that it has not begun with as they are, once its signal is aborted
   */
  async run(task: (cancelled: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#current.add(controller);
    try {
      await this.#lock.run('', () => task(controller.signal));
    } finally {
      this.#current.delete(controller);
    }
  }

  /** Ends all rounds early: all nodes are to stop, whatever was asked of them before. */
  cancel(): void {
    for (const controller of this.#current) controller.abort();
  }
}
