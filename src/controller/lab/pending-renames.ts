// Records changes in progress that rename a node. A compute renames the node's files before the new name is recorded here,
// so after a crash the next start must repeat the change.
import type { NodeUpdate } from '../../api/routes/nodes.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Documents } from '../../store/documents.ts';

const KIND = 'renames';

export class PendingRenames {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Records that the node is about to change so. */
  async begin(projectId: string, id: string, change: NodeUpdate): Promise<void> {
    await this.#documents.put(KIND, id, { project_id: projectId, change });
  }

  /** The renames are done or have failed; other nodes are ignored. */
  async end(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await this.#documents.delete(KIND, id).catch((error: unknown) => {
        log.warn('the note of a renaming stays', { node: id, error: messageOf(error) });
      });
    }
  }

  async of(projectId: string): Promise<{ id: string; change: NodeUpdate }[]> {
    const noted = await this.#documents.list(KIND);
    return noted
      .filter(({ body }) => body['project_id'] === projectId)
      .map(({ id, body: { change, name } }) => ({
        id,
        // Earlier versions recorded the name alone.
        change: (change as NodeUpdate | undefined) ?? { name: String(name) },
      }));
  }
}
