// The live state of open labs: the next content of their .gns3 files.
import type { Database, Transaction } from './database.ts';
import { type JsonObject, storedObject } from './json.ts';
import { type ProjectRecord, PUT_PROJECT, projectBody } from './projects.ts';
import type { StatePaths } from './state-paths.ts';

/** The kinds of a lab's records, with their id members. */
const IDENTIFIERS = { node: 'node_id', link: 'link_id', drawing: 'drawing_id', compute: 'compute_id' } as const;

export type LabKind = keyof typeof IDENTIFIERS;

/** One change of a lab: a new version of a record, or the id of a deleted one. */
export type LabChange =
  | { node: { node_id: string } }
  | { link: { link_id: string } }
  | { drawing: { drawing_id: string } }
  | { compute: { compute_id: string } }
  | { delete: LabKind; id: string };

/** All records of a lab as plain JSON objects, in order of creation. */
export interface LabContents {
  nodes: readonly { node_id: string }[];
  links: readonly { link_id: string }[];
  drawings: readonly { drawing_id: string }[];
  computes: readonly { compute_id: string }[];
}

export interface LabState {
  project_id: string;
  /** Whether the database has changes that the .gns3 file does not have. */
  dirty: boolean;
  /** The number of changes so far; `recordWritten` confirms the content read at such a number. */
  changes: number;
  /** The .gns3 file's fingerprint when Labwire last read or wrote it; undefined if never. */
  fingerprint: string | undefined;
  /** The fingerprint of a file about to replace it, if the outcome is unknown. */
  coming: string | undefined;
  /** It is closing, or was when the previous run of the server ended. */
  closing: boolean;
}

export interface Lab extends LabState {
  nodes: (JsonObject & { node_id: string })[];
  links: (JsonObject & { link_id: string })[];
  drawings: (JsonObject & { drawing_id: string })[];
  computes: (JsonObject & { compute_id: string })[];
  /** Unreadable records; the other lists do not have them. */
  damaged: { kind: LabKind; id: string }[];
}

/** A lab whose records are unparsed texts, for callers that pass them on. */
export interface LabTexts extends LabState {
  /** A JSON list of `[kind, id, text of the record]`, in order of creation. */
  records: string;
}

interface LabRow {
  project_id: string;
  changes: number;
  written: number;
  fingerprint: string | null;
  coming: string | null;
  closing: number;
}

/** Writes `[kind, id, body]` of every element of the JSON array ?2, in one statement whatever their number. */
const PUT = `INSERT INTO lab_record (project_id, kind, id, body)
  SELECT ?1, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2) WHERE true ORDER BY key
  ON CONFLICT (project_id, kind, id) DO UPDATE SET body = excluded.body`;
const DELETE = `DELETE FROM lab_record WHERE project_id = ?1
  AND (kind, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))`;
const STATE = 'SELECT project_id, changes, written, fingerprint, coming, closing FROM lab';

/**
 * Open labs. Every call is one small transaction whose cost is independent of the lab's size (except `begin`, `load`
 * and `end`, which concern all of it); its promise resolves when the change is durable. Calls take effect in order.
 */
export class Labs {
  /** Called with a closed lab whose .gns3 file is complete, before the lab is forgotten. */
  beforeEnd: (projectId: string) => Promise<void> = async () => {};
  /** Called with a closed lab before it opens; not with one that was open when the server ended. Throws if it may not. */
  beforeOpen: (projectId: string) => Promise<void> = async () => {};
  readonly #database: Database;
  readonly #paths: StatePaths;

  constructor(database: Database, paths: StatePaths) {
    this.#database = database;
    this.#paths = paths;
  }

  /**
   * Begins an open lab; a former record of the project's lab is replaced. With the `fingerprint` of the .gns3 file that
   * was read it begins clean, otherwise dirty. The project is recorded with it, or was before.
   */
  async begin(
    projectId: string,
    contents: LabContents,
    { fingerprint, project }: { fingerprint?: string; project?: ProjectRecord } = {},
  ): Promise<void> {
    const records = [
      ...contents.computes.map((compute) => ({ compute })),
      ...contents.nodes.map((node) => ({ node })),
      ...contents.links.map((link) => ({ link })),
      ...contents.drawings.map((drawing) => ({ drawing })),
    ];
    const { puts } = planOf(records);
    await this.#database.transaction(async ({ run }) => {
      if (project) await run(PUT_PROJECT, project.project_id, projectBody(project, this.#paths));
      await run('DELETE FROM lab WHERE project_id = ?', projectId);
      await run('INSERT INTO lab (project_id, fingerprint) VALUES (?, ?)', projectId, fingerprint ?? null);
      await run(PUT, projectId, puts);
      const written = fingerprint === undefined ? '-1' : 'changes';
      await run(`UPDATE lab SET written = ${written} WHERE project_id = ?`, projectId);
    });
  }

  /** Applies changes together, all or none. If an id occurs more than once the last change counts. */
  async apply(projectId: string, changes: readonly LabChange[]): Promise<void> {
    const { puts, deletes } = planOf(changes);
    if (deletes === undefined) await this.#database.run(PUT, projectId, puts);
    else {
      await this.#database.makingRoom(async () => {
        if (puts === '[]') return await this.#database.run(DELETE, projectId, deletes);
        await this.#database.transaction(async ({ run }) => {
          await run(DELETE, projectId, deletes);
          await run(PUT, projectId, puts);
        });
      });
    }
  }

  /** The whole lab as of one moment, or undefined if it is not open. */
  async load(projectId: string): Promise<Lab | undefined> {
    return await this.#database.transaction(async (transaction) => {
      const [row] = await transaction.all<LabRow>(`${STATE} WHERE project_id = ?`, projectId);
      if (row === undefined) return undefined;
      const records = await recordsOf(transaction, projectId);
      return { ...stateOf(row), ...records };
    });
  }

  /** As `load`, unparsed: the database joins the records outside this thread. */
  async texts(projectId: string): Promise<LabTexts | undefined> {
    return await this.#database.transaction(async (transaction) => {
      const [row] = await transaction.all<LabRow>(`${STATE} WHERE project_id = ?`, projectId);
      if (row === undefined) return undefined;
      const [list] = await transaction.all<{ records: string }>(
        `SELECT json_group_array(json_array(kind, id, body) ORDER BY position) AS records
          FROM lab_record WHERE project_id = ?`,
        projectId,
      );
      return { ...stateOf(row), records: list?.records ?? '[]' };
    });
  }

  /** The state of every open lab; after a crash, of labs that were open then. */
  async list(): Promise<LabState[]> {
    return (await this.#database.all<LabRow>(`${STATE} ORDER BY project_id`)).map(stateOf);
  }

  /** The state of one lab, or undefined if it is not open. */
  async state(projectId: string): Promise<LabState | undefined> {
    return (await this.#database.all<LabRow>(`${STATE} WHERE project_id = ?`, projectId)).map(stateOf)[0];
  }

  /** A file with this fingerprint is about to replace the .gns3 file. */
  async recordComing(projectId: string, fingerprint: string): Promise<void> {
    await this.#database.run('UPDATE lab SET coming = ?2 WHERE project_id = ?1', projectId, fingerprint);
  }

  /** That file has replaced the .gns3 file; whether it has all changes is unknown. */
  async recordTaken(projectId: string, fingerprint: string): Promise<void> {
    await this.#database.run(
      'UPDATE lab SET fingerprint = ?2, coming = NULL WHERE project_id = ?1',
      projectId,
      fingerprint,
    );
  }

  /**
   * The .gns3 file now has the content that `load` returned with this number of `changes`. The lab stays dirty if there
   * were more since.
   */
  async recordWritten(projectId: string, fingerprint: string, changes: number): Promise<void> {
    await this.#database.run(
      'UPDATE lab SET fingerprint = ?2, coming = NULL, written = max(written, ?3) WHERE project_id = ?1',
      projectId,
      fingerprint,
      changes,
    );
  }

  /** From now on the lab will be closed, even after a crash. */
  async recordClosing(projectId: string): Promise<void> {
    await this.#database.makingRoom(() =>
      this.#database.run('UPDATE lab SET closing = 1 WHERE project_id = ?', projectId),
    );
  }

  /** Forgets a closed lab whose .gns3 file is complete. */
  async end(projectId: string): Promise<void> {
    await this.beforeEnd(projectId);
    await this.#database.makingRoom(() => this.#database.run('DELETE FROM lab WHERE project_id = ?', projectId));
  }
}

function stateOf(row: LabRow): LabState {
  return {
    project_id: row.project_id,
    dirty: row.changes !== row.written,
    changes: row.changes,
    fingerprint: row.fingerprint ?? undefined,
    coming: row.coming ?? undefined,
    closing: row.closing !== 0,
  };
}

/** The parameters of PUT and DELETE for a list of changes. */
function planOf(changes: readonly LabChange[]): { puts: string; deletes: string | undefined } {
  const last = new Map<string, [kind: LabKind, id: string, body?: string]>();
  for (const change of changes) {
    const entry = entryOf(change);
    last.set(`${entry[0]} ${entry[1]}`, entry);
  }
  const entries = [...last.values()];
  const deletes = entries.filter((entry) => entry[2] === undefined);
  return {
    puts: JSON.stringify(entries.filter((entry) => entry[2] !== undefined)),
    deletes: deletes.length === 0 ? undefined : JSON.stringify(deletes),
  };
}

function entryOf(change: LabChange): [kind: LabKind, id: string, body?: string] {
  if ('delete' in change) return [change.delete, change.id];
  const [kind, record] = Object.entries(change)[0] as [LabKind, JsonObject];
  return [kind, String(record[IDENTIFIERS[kind]]), JSON.stringify(record)];
}

async function recordsOf(transaction: Transaction, projectId: string): Promise<Omit<Lab, keyof LabState>> {
  const rows = await transaction.all<{ kind: LabKind; id: string; body: string }>(
    'SELECT kind, id, body FROM lab_record WHERE project_id = ? ORDER BY position',
    projectId,
  );
  const damaged: { kind: LabKind; id: string }[] = [];
  const of = <Kind extends LabKind>(wanted: Kind) => {
    const found: (JsonObject & Record<(typeof IDENTIFIERS)[Kind], string>)[] = [];
    for (const { kind, id, body } of rows) {
      if (kind !== wanted) continue;
      const record = storedObject<(typeof found)[number]>(body, `${kind} ${id} of project ${projectId}`);
      if (record === undefined) damaged.push({ kind, id });
      else found.push(record);
    }
    return found;
  };
  return { nodes: of('node'), links: of('link'), drawings: of('drawing'), computes: of('compute'), damaged };
}
