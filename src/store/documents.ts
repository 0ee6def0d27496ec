// Small JSON documents by key: computes, templates, settings and others.
import type { Database, Transaction } from './database.ts';
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
  | 'due-starts'
  | 'files'
  | 'left-files'
  | 'cluster-hosts';

export interface StoredDocument {
  id: string;
  body: JsonObject;
}

/** A document without a body is removed; a missing one is ignored. */
export interface DocumentChange {
  kind: DocumentKind;
  id: string;
  body: object | undefined;
}

const PUT =
  'INSERT INTO document (kind, id, body) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body';
const DELETE = 'DELETE FROM document WHERE kind = ? AND id = ?';

/** Makes the changes as a part of a transaction. */
export async function changeDocuments({ run }: Transaction, changes: readonly DocumentChange[]): Promise<void> {
  for (const { kind, id, body } of changes)
    await (body === undefined ? run(DELETE, kind, id) : run(PUT, kind, id, JSON.stringify(body)));
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
    await this.#database.run(PUT, kind, id, JSON.stringify(body));
  }

  /** Removes a document; a missing one is ignored. */
  async delete(kind: DocumentKind, id: string): Promise<void> {
    await this.#database.makingRoom(() => this.#database.run(DELETE, kind, id));
  }

  /** Makes all changes or none. */
  async change(changes: readonly DocumentChange[]): Promise<void> {
    const work = (): Promise<void> =>
      this.#database.transaction((transaction) => changeDocuments(transaction, changes));
    await (changes.some(({ body }) => body !== undefined) ? work() : this.#database.makingRoom(work));
  }
}
