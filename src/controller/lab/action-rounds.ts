// Runs actions on all nodes of a project, one round after the other.
import { KeyedLock } from '../../host/values/keyed-lock.ts';

export class Rounds {
  readonly #lock = new KeyedLock();
  readonly #current = new Set<AbortController>();

  /**
   * Runs a round after the earlier ones.
   * @param task skips the nodes it has not begun with once its signal is aborted
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

  /** Ends all rounds early, because all nodes are about to stop. */
  cancel(): void {
    for (const controller of this.#current) controller.abort();
  }
}
