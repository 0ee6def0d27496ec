// What other computes have, or may have, of our projects: noted before they are asked for it, so that a server that is killed meanwhile
// finds it again.
import type { Database } from './database.ts';

export interface RemoteObject {
  compute_id: string;
  project_id: string;
  /** Its path on the compute, below /v2/compute: of a node, of a NIO, or of the project itself. */
  path: string;
  /** The project is deleted: what is there of it is to go. */
  deleted?: boolean;
}

export class RemoteObjects {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** It may be there from now on, or is about to go, which `makesRoom`; no error if that is known already. */
  async note(
    { compute_id, project_id, path, deleted = false }: RemoteObject,
    { makesRoom = false }: { makesRoom?: boolean } = {},
  ): Promise<void> {
    const sql = `INSERT INTO remote_object (compute_id, project_id, path, deleted) VALUES (?, ?, ?, ?)
      ON CONFLICT (compute_id, path) DO UPDATE SET deleted = excluded.deleted`;
    const note = () => this.#database.run(sql, compute_id, project_id, path, Number(deleted));
    await (makesRoom ? this.#database.makingRoom(note) : note());
  }

  /** It need not be looked for any more. */
  async settle({ compute_id, path }: RemoteObject): Promise<void> {
    await this.#database.makingRoom(() =>
      this.#database.run('DELETE FROM remote_object WHERE compute_id = ? AND path = ?', compute_id, path),
    );
  }

  /** In the order in which they were noted. */
  async list(): Promise<RemoteObject[]> {
    const sql = 'SELECT compute_id, project_id, path, deleted FROM remote_object ORDER BY position';
    const rows = await this.#database.all<Omit<RemoteObject, 'deleted'> & { deleted: number }>(sql);
    return rows.map((row) => ({ ...row, deleted: row.deleted !== 0 }));
  }
}
