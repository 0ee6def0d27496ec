// Reads what it can of a damaged database: row by row, from both ends of each table, with the help of its indexes and,
// if the first page is destroyed, with that of a new database.
import { open, stat } from 'node:fs/promises';
import type sqlite3 from 'sqlite3';
import { connect, LEAST_BYTES, settle } from './database.ts';

export type Row = Record<string, string | number | null>;

/** An open lab: closed ones have no rows. */
export interface FoundLab {
  project_id: string;
  /** Its row of the table of labs; undefined if unreadable. */
  state: Row | undefined;
  /** Undefined if it is unknown which records there were. The text of a lost record is empty. */
  records: Row[] | undefined;
}

export interface Found {
  settings: Row[];
  /** Projects and documents known only by name have an empty text. */
  projects: Row[];
  documents: Row[];
  labs: FoundLab[];
  remoteObjects: Row[];
  /** Whether there may be rows that are not known at all. */
  incomplete: boolean;
}

interface Table {
  name: string;
  /** The index columns that identify a row. */
  key: readonly string[];
  columns: readonly string[];
}

const PROJECT: Table = { name: 'project', key: ['project_id'], columns: ['project_id', 'body'] };
const DOCUMENT: Table = { name: 'document', key: ['kind', 'id'], columns: ['kind', 'id', 'body'] };
const RECORD: Table = {
  name: 'lab_record',
  key: ['project_id', 'kind', 'id'],
  columns: ['project_id', 'kind', 'id', 'body'],
};
const REMOTE_OBJECT: Table = {
  name: 'remote_object',
  key: ['compute_id', 'path'],
  columns: ['compute_id', 'project_id', 'path', 'deleted'],
};

/** Rows read at a time. */
const ROWS_AT_ONCE = 256;
/** How many unreadable rows in sequence end the search for further ones: in a readable table, and otherwise. */
const GAP_ROWS = 10_000;
const BLIND_ROWS = 500;

/**
 * @param sound a new database of the same release, whose first page lists the tables at the places where a first start
 * creates them
 */
export async function readDamaged(path: string, sound: string): Promise<Found> {
  // SQLite deletes the log of an empty file, which may have everything.
  if ((await stat(path)).size < LEAST_BYTES || !(await hasTables(path))) await copyFirstPage(sound, path);
  const connection = await connect(path);
  try {
    // Otherwise SQLite does not read a file that is shorter than its header says.
    await query(connection, 'PRAGMA writable_schema = ON').catch(() => {});
    const documents = await tableOf(connection, DOCUMENT);
    const projects = await tableOf(connection, PROJECT);
    const records = await tableOf(connection, RECORD);
    const remote = await tableOf(connection, REMOTE_OBJECT);
    const settings = await keyed(connection, 'setting', 'name', ['instance', 'place']);
    const ids = [...new Set([...projects.rows, ...records.rows].map((row) => String(row['project_id'])))];
    const states = await keyed(connection, 'lab', 'project_id', ids);
    const isWhole = states.isWhole && records.isWhole;
    const open = states.isWhole ? [] : records.rows.map((row) => String(row['project_id']));
    const labs = [...new Set([...states.rows.map((row) => String(row['project_id'])), ...open])].map((id) => ({
      project_id: id,
      state: states.rows.find((row) => row['project_id'] === id),
      records: records.isWhole ? records.rows.filter((row) => row['project_id'] === id) : undefined,
    }));
    return {
      settings: settings.rows,
      projects: projects.rows,
      documents: documents.rows,
      labs,
      remoteObjects: remote.rows,
      incomplete: !(isWhole && documents.isWhole && projects.isWhole && settings.isWhole),
    };
  } finally {
    await settle((done) => connection.close(done)).catch(() => {});
  }
}

interface Read {
  rows: Row[];
  /** Whether all rows are included, if only by name. */
  isWhole: boolean;
}

/** The rows of a table, in order of position. With a readable index, lost rows are included. */
async function tableOf(connection: sqlite3.Database, { name, key, columns: wanted }: Table): Promise<Read> {
  // An earlier release had fewer columns; if they are unreadable all are tried.
  const present = await query(connection, 'SELECT name FROM pragma_table_info(?)', name).catch(() => []);
  const columns = wanted.filter((column) => present.length === 0 || present.some((each) => each['name'] === column));
  const read = (condition: string, order: 'ASC' | 'DESC', limit: number): Promise<Row[]> =>
    query(
      connection,
      `SELECT position, ${columns.join()} FROM ${name} NOT INDEXED WHERE ${condition} ORDER BY position ${order} LIMIT ${limit}`,
    );
  const rows = new Map<number, Row>();
  const note = (found: Row[]): number | undefined => {
    for (const row of found) rows.set(Number(row['position']), row);
    const last = found.at(-1);
    return last && Number(last['position']);
  };
  /** Reads in one direction up to the end or the first unreadable row. */
  const readOn = async (order: 'ASC' | 'DESC'): Promise<{ at: number | undefined; isEnd: boolean }> => {
    let at: number | undefined;
    for (let limit = ROWS_AT_ONCE; ; ) {
      const from = at === undefined ? 'true' : `position ${order === 'ASC' ? '>' : '<'} ${at}`;
      const found = await read(from, order, limit).catch(() => undefined);
      if (found === undefined && limit === 1) return { at, isEnd: false };
      if (found === undefined) limit = 1;
      else if (found.length === 0) return { at, isEnd: true };
      else at = note(found);
    }
  };
  const first = await readOn('ASC');
  if (first.isEnd) return { rows: [...rows.values()], isWhole: true };
  const last = await readOn('DESC');
  const index = await query(
    connection,
    `SELECT position, ${key.join()} FROM ${name} INDEXED BY sqlite_autoindex_${name}_1`,
  ).catch(() => undefined);
  const one = async (position: number): Promise<void> => {
    if (!rows.has(position)) note(await read(`position = ${position}`, 'ASC', 1).catch(() => []));
  };
  for (const row of index ?? []) await one(Number(row['position']));
  // Without an index, rows between the two ends are tried by number.
  let position = (first.at ?? 0) + 1;
  const gap = first.at === undefined && last.at === undefined ? BLIND_ROWS : GAP_ROWS;
  for (let missed = 0; index === undefined && missed < gap && position < (last.at ?? Infinity); position += 1) {
    await one(position);
    missed = rows.has(position) ? 0 : missed + 1;
  }
  for (const row of index ?? []) {
    const known = rows.has(Number(row['position']));
    if (!known)
      rows.set(Number(row['position']), { ...Object.fromEntries(columns.map((column) => [column, ''])), ...row });
  }
  const inOrder = [...rows.entries()].sort(([one], [other]) => one - other).map(([, row]) => row);
  return { rows: inOrder, isWhole: index !== undefined };
}

/** Rows of a small table without positions: all, or those with keys known from elsewhere. */
async function keyed(
  connection: sqlite3.Database,
  table: string,
  key: string,
  values: readonly string[],
): Promise<Read> {
  try {
    return { rows: await query(connection, `SELECT * FROM ${table}`), isWhole: true };
  } catch {
    const rows: Row[] = [];
    for (const value of values) {
      rows.push(...(await query(connection, `SELECT * FROM ${table} WHERE ${key} = ?`, value).catch(() => [])));
    }
    return { rows, isWhole: false };
  }
}

async function hasTables(path: string): Promise<boolean> {
  const connection = await connect(path).catch(() => undefined);
  if (connection === undefined) return false;
  try {
    await query(connection, 'PRAGMA writable_schema = ON');
    const names = (await query(connection, 'SELECT name FROM sqlite_schema')).map(({ name }) => name);
    return ['setting', 'project', 'document', 'lab', 'lab_record'].every((name) => names.includes(name));
  } catch {
    return false;
  } finally {
    await settle((done) => connection.close(done)).catch(() => {});
  }
}

/** The first page lists the tables, which each first start creates in the same order, and so on the same pages. */
async function copyFirstPage(from: string, to: string): Promise<void> {
  await using source = await open(from, 'r');
  const page = Buffer.alloc(4096);
  await source.read(page, 0, page.length, 0);
  await using target = await open(to, 'r+');
  const { size } = await target.stat();
  page.writeUInt32BE(Math.ceil(size / page.length), 28);
  await target.write(page, 0, page.length, 0);
}

function query(connection: sqlite3.Database, sql: string, ...values: string[]): Promise<Row[]> {
  return settle<Row[]>((done) => connection.all(sql, values, done as (error: Error | null, rows: unknown[]) => void));
}
