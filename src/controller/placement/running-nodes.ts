// Which nodes run, kept for the next controller: it cannot ask the host that is gone with this one.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Documents } from '../../store/documents.ts';
import type { Announcer } from '../events.ts';

const KIND = 'running-nodes';
/** Pause (ms) before a note that failed is written again. */
const AGAIN_MS = 2_000;

interface Told {
  node_id?: string;
  status?: string;
  lost_reason?: string | null;
}

export class RunningNodes {
  readonly #documents: Documents;
  readonly #ids = new Set<string>();
  #isStopped = false;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async start({ project }: Announcer): Promise<void> {
    for (const { id } of await this.#documents.list(KIND)) this.#ids.add(id);
    project.observe(({ action, event }) => {
      const { node_id: id, status, lost_reason: lost } = event as Told;
      if (id === undefined || !action.startsWith('node.')) return;
      if (action === 'node.deleted') this.#note(id, false);
      else if (action === 'node.updated' && lost == null) this.#note(id, status === 'started');
    });
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  #note(id: string, runs: boolean): void {
    if (runs === this.#ids.has(id)) return;
    if (runs) this.#ids.add(id);
    else this.#ids.delete(id);
    void this.#write(id, runs);
  }

  /** Again until it succeeds, or something else is to be noted: while NATS elects a leader it takes no changes. Never rejects. */
  async #write(id: string, runs: boolean): Promise<void> {
    while (this.#ids.has(id) === runs) {
      try {
        await (runs ? this.#documents.put(KIND, id, {}) : this.#documents.delete(KIND, id));
        return;
      } catch (error) {
        log.debug('cannot note that a node runs', { node: id, reason: messageOf(error) });
      }
      if (this.#isStopped) return;
      await sleep(AGAIN_MS, undefined, { ref: false });
    }
  }

  stop(): void {
    this.#isStopped = true;
  }
}
