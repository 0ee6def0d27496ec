// The known projects, open and closed.
import type { Database } from './database.ts';
import { changeDocuments, type DocumentChange } from './documents.ts';
import { storedObject } from './json.ts';
import type { StatePaths } from './state-paths.ts';

/** A project as in the API, without its `status`. */
export interface ProjectRecord {
  project_id: string;
  name: string;
  /** Absolute path of the project's directory. */
  path: string;
  /** Name of the .gns3 file in it. */
  filename: string;
  auto_start: boolean;
  auto_open: boolean;
  auto_close: boolean;
  scene_height: number;
  scene_width: number;
  zoom: number;
  show_layers: boolean;
  snap_to_grid: boolean;
  show_grid: boolean;
  show_interface_labels: boolean;
  grid_size: number;
  drawing_grid_size: number;
  supplier: { logo?: string; url?: string; [member: string]: unknown } | null;
  variables: { name: string; value?: string; [member: string]: unknown }[] | null;
  /** Only in the database: its old directory while it is being moved to `path`. */
  moving_from?: string;
}

/** Adds or replaces a project by id and body, see `projectBody`. */
export const PUT_PROJECT = `INSERT INTO project (project_id, body) VALUES (?, ?)
  ON CONFLICT (project_id) DO UPDATE SET body = excluded.body WHERE body <> excluded.body`;

interface Row {
  project_id: string;
  body: string;
}

/** The body of a project's row. */
export function projectBody(record: ProjectRecord, paths: StatePaths): string {
  return JSON.stringify(withPaths(record, (path) => paths.stored(path)));
}

function withPaths(record: ProjectRecord, change: (path: string) => string): ProjectRecord {
  const { path, moving_from: from } = record;
  return { ...record, path: change(path), ...(from !== undefined && { moving_from: change(from) }) };
}

export class Projects {
  readonly #database: Database;
  readonly #paths: StatePaths;

  constructor(database: Database, paths: StatePaths) {
    this.#database = database;
    this.#paths = paths;
  }

  /** Undefined for a damaged row. */
  #recordOf({ project_id: id, body }: Row): ProjectRecord | undefined {
    const record = storedObject<ProjectRecord>(body, `project ${id}`);
    const whole =
      record?.project_id === id &&
      [record.name, record.path, record.filename].every((text) => typeof text === 'string');
    return whole ? withPaths(record, (path) => this.#paths.absolute(path)) : undefined;
  }

  /** All projects, in order of creation. */
  async list(): Promise<ProjectRecord[]> {
    const rows = await this.#database.all<Row>('SELECT project_id, body FROM project ORDER BY position');
    return rows.map((row) => this.#recordOf(row)).filter((record) => record !== undefined);
  }

  /** Ids of projects with damaged rows. */
  async damaged(): Promise<string[]> {
    const rows = await this.#database.all<Row>('SELECT project_id, body FROM project');
    return rows.filter((row) => this.#recordOf(row) === undefined).map(({ project_id: id }) => id);
  }

  /** One project, or undefined if it is unknown or its row is damaged. */
  async get(projectId: string): Promise<ProjectRecord | undefined> {
    const [row] = await this.#database.all<Row>('SELECT project_id, body FROM project WHERE project_id = ?', projectId);
    return row && this.#recordOf(row);
  }

  /** Adds or replaces a project. A change makes its lab dirty if that is open. */
  async put(project: ProjectRecord): Promise<void> {
    await this.#database.run(PUT_PROJECT, project.project_id, projectBody(project, this.#paths));
  }

  /** Deletes a project and its lab, with changes of documents as one change; an unknown one is ignored. */
  async delete(projectId: string, documents: readonly DocumentChange[] = []): Promise<void> {
    await this.#database.makingRoom(() =>
      this.#database.transaction(async (transaction) => {
        await transaction.run('DELETE FROM project WHERE project_id = ?', projectId);
        await changeDocuments(transaction, documents);
      }),
    );
  }
}
