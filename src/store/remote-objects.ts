// Records what other computes have, or may have, of our projects. An entry is written before the request, so that it survives a crash.
import type { Database } from './database.ts';

export interface RemoteObject {
  compute_id: string;
  project_id: string;
  /** Path below /v2/compute of a node, a NIO, or the project itself. */
  path: string;
  /** The project is deleted: its files there are still to be deleted. */
  deleted?: boolean;
}

export class RemoteObjects {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Records that it may exist from now on, or will be removed; only a removal, which `makesRoom`, may use the reserved
   * space. A known entry is no error.
   */
  async note(
    { compute_id, project_id, path, deleted = false }: RemoteObject,
    { makesRoom = false }: { makesRoom?: boolean } = {},
  ): Promise<void> {
    const sql = `INSERT INTO remote_object (compute_id, project_id, path, deleted) VALUES (?, ?, ?, ?)
      ON CONFLICT (compute_id, path) DO UPDATE SET deleted = excluded.deleted`;
    const note = () => this.#database.run(sql, compute_id, project_id, path, Number(deleted));
    await (makesRoom ? this.#database.makingRoom(note) : note());
  }

  /** Deletes the entry, because the outcome is known. */
  async settle({ compute_id, path }: RemoteObject): Promise<void> {
    await this.#database.makingRoom(() =>
      this.#database.run('DELETE FROM remote_object WHERE compute_id = ? AND path = ?', compute_id, path),
    );
  }

  /** In order of creation. */
  async list(): Promise<RemoteObject[]> {
    const sql = 'SELECT compute_id, project_id, path, deleted FROM remote_object ORDER BY position';
    const rows = await this.#database.all<Omit<RemoteObject, 'deleted'> & { deleted: number }>(sql);
    return rows.map((row) => ({ ...row, deleted: row.deleted !== 0 }));
  }
}
