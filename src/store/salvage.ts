// A damaged state database, rebuilt from what can still be read of it. The damaged files are kept beside it.
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type sqlite3 from 'sqlite3';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { exists } from '../host/exists.ts';
import { connect, Database, settle } from './database.ts';
import { formatJson } from './json.ts';
import { lockStateDirectory } from './lock.ts';
import { MIGRATIONS } from './migrations.ts';

/** What is kept of each table; in this order, as later ones refer to earlier ones. */
const TABLES = {
  setting: { columns: ['name', 'value'], rows: 'settings' },
  project: { columns: ['position', 'project_id', 'body'], rows: 'projects' },
  document: { columns: ['position', 'kind', 'id', 'body'], rows: 'templates, computes and other documents' },
} as const;

type TableName = keyof typeof TABLES;
type Row = Record<string, string | number | null>;

/** Rows without a readable neighbour before the search for further ones is given up. */
const GAP_ROWS = 10_000;

export interface Salvage {
  /** Where the damaged files are now. */
  keptAs: string;
  /** Rows that were taken over, by what they are. */
  rows: Record<string, number>;
  /** Whether some of them could not be read. */
  incomplete: boolean;
}

/**
 * Rebuilds a damaged database. The state of labs that were open is not taken over: it refers to itself too much to trust a part of it,
 * and their `.gns3` files have it as of some seconds before.
 * @returns undefined when the database is sound, or not there: nothing was done then
 * @throws Failure `conflict` while a server has the directory, or when the database was written by a later release
 */
export async function salvageDatabase(stateDirectory: string): Promise<Salvage | undefined> {
  await using undo = new AsyncDisposableStack();
  undo.use(await lockStateDirectory(stateDirectory));
  const path = join(stateDirectory, 'labwire.db');
  if (!(await exists(path)) || (await isSound(path))) return undefined;
  const { found, incomplete } = await readable(path);
  const keptAs = `${path}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  for (const suffix of ['', '-wal', '-shm']) {
    await rename(path + suffix, keptAs + suffix).catch((thrown: unknown) => {
      if (systemCode(thrown) !== 'ENOENT') throw thrown;
    });
  }
  await using database = await Database.open(path, MIGRATIONS);
  const rows: Salvage['rows'] = {};
  for (const [table, { columns, rows: name }] of Object.entries(TABLES)) {
    rows[name] = await takeOver(database, table, columns, found[table as TableName]);
  }
  return { keptAs, rows, incomplete };
}

/** A record whose text is no JSON object. */
export interface DamagedRecord {
  table: 'project' | 'document';
  id: string;
  body: string;
}

/**
 * Removes the records of a sound database that no start can read; those of open labs are mended from their files by the start itself.
 * They are kept in a file beside the database.
 * @returns what was removed, and where it is kept; undefined when there is nothing of that kind, or no database
 * @throws Failure `conflict` while a server has the directory
 */
export async function removeDamagedRecords(
  stateDirectory: string,
): Promise<{ records: DamagedRecord[]; keptAs: string } | undefined> {
  await using undo = new AsyncDisposableStack();
  undo.use(await lockStateDirectory(stateDirectory));
  const path = join(stateDirectory, 'labwire.db');
  if (!(await exists(path))) return undefined;
  await using database = await Database.open(path, MIGRATIONS);
  const damaged = "CASE WHEN json_valid(body) THEN json_type(body) <> 'object' ELSE 1 END";
  const records = await database.all<DamagedRecord>(
    `SELECT 'project' AS "table", project_id AS id, body FROM project WHERE ${damaged}
     UNION ALL SELECT 'document', kind || ' ' || id, body FROM document WHERE ${damaged}`,
  );
  if (records.length === 0) return undefined;
  const keptAs = `${path}.damaged-records-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`;
  await writeFileAtomically(keptAs, formatJson(records), { mode: 0o600 });
  await database.transaction(async (transaction) => {
    await transaction.run(`DELETE FROM project WHERE ${damaged}`);
    await transaction.run(`DELETE FROM document WHERE ${damaged}`);
  });
  return { records, keptAs };
}

/** Opens it as the server does; a later release's is refused by that, and damage is what we are here for. */
async function isSound(path: string): Promise<boolean> {
  try {
    await using _database = await Database.open(path, MIGRATIONS);
    return true;
  } catch (thrown) {
    if (thrown instanceof Failure && / is damaged \(/.test(thrown.message)) return false;
    throw thrown;
  }
}

async function readable(path: string): Promise<{ found: Record<TableName, Row[]>; incomplete: boolean }> {
  const found: Record<TableName, Row[]> = { setting: [], project: [], document: [] };
  let incomplete = false;
  const connection = await connect(path).catch(() => undefined);
  if (connection === undefined) return { found, incomplete: true };
  try {
    for (const table of Object.keys(TABLES) as TableName[]) {
      try {
        found[table] = await all(connection, `SELECT * FROM ${table}`);
      } catch {
        incomplete = true;
        if (table !== 'setting') found[table] = await oneByOne(connection, table);
      }
    }
  } finally {
    await settle((done) => connection.close(done)).catch(() => {});
  }
  return { found, incomplete };
}

/** Row by row, leaping over those that cannot be read. */
async function oneByOne(connection: sqlite3.Database, table: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let position = 1, missed = 0; missed < GAP_ROWS; position++) {
    const [row] = await all(connection, `SELECT * FROM ${table} WHERE position = ${position}`).catch(() => []);
    missed = row ? 0 : missed + 1;
    if (row) rows.push(row);
  }
  return rows;
}

function all(connection: sqlite3.Database, sql: string): Promise<Row[]> {
  return settle<Row[]>((done) => connection.all(sql, done as (error: Error | null, rows: unknown[]) => void));
}

/** Answers how many rows were taken over; one that contradicts another is left out. */
async function takeOver(
  database: Database,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<number> {
  let taken = 0;
  const sql = `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`;
  for (const row of rows) {
    const values = columns.map((column) => row[column] ?? null);
    if (columns.includes('body') && !isJson(row['body'])) continue;
    await database.run(sql, ...values).then(
      () => (taken += 1),
      (thrown: unknown) => {
        if (!/constraint/i.test(messageOf(thrown))) throw thrown;
      },
    );
  }
  return taken;
}

function isJson(text: unknown): boolean {
  try {
    JSON.parse(String(text));
    return true;
  } catch {
    return false;
  }
}
