// Records changes in progress that rename a node, or that another host makes: the compute has made them before they are
// recorded here, so after a crash the next start must repeat them.
import type { NodeUpdate } from '../../api/routes/nodes.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Documents } from '../../store/documents.ts';

const KIND = 'renames';

export class PendingUpdates {
  readonly #documents: Documents;
  /** Nodes that have a note. */
  readonly #noted = new Set<string>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Records that the node is about to change so. */
  async begin(projectId: string, id: string, change: NodeUpdate): Promise<void> {
    this.#noted.add(id);
    await this.#documents.put(KIND, id, { project_id: projectId, change });
  }

  /** The changes are made or have failed; other nodes are ignored. */
  async end(ids: readonly string[]): Promise<void> {
    for (const id of ids.filter((one) => this.#noted.delete(one))) {
      await this.#documents.delete(KIND, id).catch((error: unknown) => {
        log.warn('the note of a change of a node stays', { node: id, error: messageOf(error) });
      });
    }
  }

  async of(projectId: string): Promise<{ id: string; change: NodeUpdate }[]> {
    const noted = await this.#documents.list(KIND);
    const own = noted.filter(({ body }) => body['project_id'] === projectId);
    for (const { id } of own) this.#noted.add(id);
    return own.map(({ id, body: { change, name } }) => ({
      id,
      // Earlier versions recorded the name alone.
      change: (change as NodeUpdate | undefined) ?? { name: String(name) },
    }));
  }
}
