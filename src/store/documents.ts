// Small JSON documents by key: computes, templates, settings and others.
import type { Database } from './database.ts';
import { type JsonObject, storedObject } from './json.ts';

export type DocumentKind =
  | 'computes'
  | 'templates'
  | 'settings'
  | 'switched-on'
  | 'sharing'
  | 'token-uses'
  | 'renames'
  | 'groups'
  | 'access-roles'
  | 'access-entries'
  | 'pools'
  | 'logins'
  | 'sessions'
  | 'template-notes'
  | 'draining'
  | 'placements'
  | 'running-nodes'
  | 'files'
  | 'cluster-hosts';

export interface StoredDocument {
  id: string;
  body: JsonObject;
}

export class Documents {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** All documents of a kind, in the order of their creation. */
  async list(kind: DocumentKind): Promise<StoredDocument[]> {
    const rows = await this.#database.all<{ id: string; body: string }>(
      'SELECT id, body FROM document WHERE kind = ? ORDER BY position',
      kind,
    );
    return rows.flatMap(({ id, body }) => {
      const object = storedObject(body, `${kind} ${id}`);
      return object === undefined ? [] : [{ id, body: object }];
    });
  }

  /** Adds or replaces a document; a replaced one keeps its position. */
  async put(kind: DocumentKind, id: string, body: object): Promise<void> {
    await this.#database.run(
      'INSERT INTO document (kind, id, body) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body',
      kind,
      id,
      JSON.stringify(body),
    );
  }

  /** Removes a document; a missing one is ignored. */
  async delete(kind: DocumentKind, id: string): Promise<void> {
    await this.#database.makingRoom(() =>
      this.#database.run('DELETE FROM document WHERE kind = ? AND id = ?', kind, id),
    );
  }
}
