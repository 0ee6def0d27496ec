// Rebuilds a damaged state database from its readable parts. The damaged files are kept beside it.
import { copyFile, link, open, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { createTemporaryDirectory, fileFailure, writeFileAtomically } from '../host/files/atomic-file.ts';
import { exists } from '../host/files/exists.ts';
import { type DamagedRecord, damagedRecords, repaired } from './damaged-records.ts';
import { Database } from './database.ts';
import { formatJson } from './json.ts';
import { lockStateDirectory } from './lock.ts';
import { MIGRATIONS } from './migrations.ts';
import { DATABASE } from './other-states.ts';
import { type Found, type Row, readDamaged } from './salvage-reader.ts';

export interface Salvage {
  /** The new place of the damaged files. */
  keptAs: string;
  /** The number of recovered rows by kind. */
  rows: Record<string, number>;
  /** Known names of unreadable rows. */
  lost: string[];
  /** Whether more may be missing than `lost` names. */
  incomplete: boolean;
  /** Open labs whose last changes may be lost: they are opened from their files, which may be older. */
  fromFiles: string[];
}

/**
 * Rebuilds a damaged database. Open labs will be reopened: from the database if all their records are readable or known
 * to be missing, otherwise from their `.gns3` files, which are some seconds older.
 * @returns undefined when the database is sound or missing: nothing was done then
 * @throws Failure `conflict` while a server has the directory, or when the database is of a later release
 */
export async function salvageDatabase(stateDirectory: string): Promise<Salvage | undefined> {
  await using undo = new AsyncDisposableStack();
  undo.use(await lockStateDirectory(stateDirectory));
  const path = join(stateDirectory, DATABASE);
  if (!(await exists(path)) || (await isSound(path))) return undefined;
  const work = undo.use(await createTemporaryDirectory(stateDirectory));
  const [damaged, rebuilt] = [join(work.path, 'damaged.db'), join(work.path, DATABASE)];
  try {
    await copyFile(path, damaged);
    if (await exists(`${path}-wal`)) await copyFile(`${path}-wal`, `${damaged}-wal`);
    await mendLength(damaged);
  } catch (thrown) {
    throw fileFailure(thrown, stateDirectory);
  }
  await writeEmpty(rebuilt);
  const found = await readDamaged(damaged, rebuilt);
  const report = await takeOver(rebuilt, found);
  const keptAs = `${path}.damaged-${timestamp()}`;
  for (const suffix of ['', '-wal', '-shm']) await ifThere(link(path + suffix, keptAs + suffix));
  // A log left beside the new database would be applied to it.
  for (const suffix of ['-wal', '-shm']) await ifThere(rm(path + suffix));
  await rename(rebuilt, path);
  return { keptAs, ...report };
}

/**
 * Repairs records of a sound database that miss only their last brace, and removes unreadable ones. The start itself
 * restores records of open labs, and of open projects, from their files. All of these records are kept in a file beside
 * the database.
 * @returns the changes, and where the records are kept; undefined without such records or without a database
 * @throws Failure `conflict` while a server has the directory
 */
export async function repairRecords(
  stateDirectory: string,
): Promise<{ mended: DamagedRecord[]; removed: DamagedRecord[]; left: DamagedRecord[]; keptAs: string } | undefined> {
  await using undo = new AsyncDisposableStack();
  undo.use(await lockStateDirectory(stateDirectory));
  const path = join(stateDirectory, DATABASE);
  if (!(await exists(path))) return undefined;
  await using database = await Database.open(path, MIGRATIONS);
  const records = await damagedRecords((sql) => database.all(sql));
  if (records.length === 0) return undefined;
  const keptAs = `${path}.damaged-records-${timestamp()}.json`;
  await writeFileAtomically(keptAs, formatJson(records), { mode: 0o600 });
  const openLabs = await database.all<{ id: string }>('SELECT project_id AS id FROM lab');
  const mended = records.filter(({ body }) => repaired(body) !== undefined);
  const rest = records.filter(({ body }) => repaired(body) === undefined);
  const left = rest.filter(({ table, id }) => table === 'project' && openLabs.some((lab) => lab.id === id));
  const removed = rest.filter((record) => !left.includes(record));
  await database.transaction(async ({ run }) => {
    for (const { table, id, body } of mended) {
      const text = repaired(body) as string;
      if (table === 'project') await run('UPDATE project SET body = ? WHERE project_id = ?', text, id);
      else await run('UPDATE document SET body = ? WHERE kind = ? AND id = ?', text, table, id);
    }
    for (const { table, id } of removed) {
      if (table === 'project') await run('DELETE FROM project WHERE project_id = ?', id);
      else await run('DELETE FROM document WHERE kind = ? AND id = ?', table, id);
    }
  });
  return { mended, removed, left, keptAs };
}

function timestamp(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, '-');
}

async function ifThere(done: Promise<void>): Promise<void> {
  await done.catch((thrown: unknown) => {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
  });
}

/** Opens it as the server does, which rejects a later release; damage is expected here. */
async function isSound(path: string): Promise<boolean> {
  try {
    await using _database = await Database.open(path, MIGRATIONS);
    return true;
  } catch (thrown) {
    if (thrown instanceof Failure && / is damaged \(/.test(thrown.message)) return false;
    throw thrown;
  }
}

/** Fills a cut page with zeros to its end, so that the rest of the page can be read. */
async function mendLength(path: string): Promise<void> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const header = Buffer.alloc(18);
  await file.read(header, 0, header.length, 0);
  const stored = header.readUInt16BE(16);
  const page = stored === 1 ? 65_536 : stored;
  if (page >= 512 && size % page !== 0) await truncate(path, Math.ceil(size / page) * page);
}

async function writeEmpty(path: string): Promise<void> {
  await using _database = await Database.open(path, MIGRATIONS);
}

type Report = Pick<Salvage, 'rows' | 'lost' | 'incomplete' | 'fromFiles'>;

/** Writes the recovered rows to a new database. A row that contradicts another one is left out. */
async function takeOver(path: string, found: Found): Promise<Report> {
  await using database = await Database.open(path, MIGRATIONS);
  const lost: string[] = [];
  const put = async (table: string, row: Row): Promise<boolean> => {
    const columns = Object.keys(row);
    const sql = `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`;
    try {
      await database.run(sql, ...Object.values(row));
      return true;
    } catch (thrown) {
      if (!/constraint|mismatch/i.test(messageOf(thrown))) throw thrown;
      return false;
    }
  };
  const rows: Report['rows'] = {
    settings: 0,
    projects: 0,
    'templates, computes and other documents': 0,
    'open labs': 0,
  };
  const count = (name: string, taken: boolean): void => {
    if (taken) rows[name] = (rows[name] ?? 0) + 1;
  };
  for (const row of found.settings) count('settings', await put('setting', row));
  const labs = new Map(found.labs.map((lab) => [String(lab.project_id), lab]));
  for (const project of found.projects) {
    const body = repaired(String(project['body']));
    if (body === undefined) lost.push(`project ${project['project_id']}`);
    // The start restores the record of an open project from its file.
    if (body !== undefined || labs.has(String(project['project_id'])))
      count('projects', await put('project', { ...project, body: body ?? '' }));
  }
  for (const document of found.documents) {
    const body = repaired(String(document['body']));
    if (body === undefined) lost.push(`${document['kind']} ${document['id']}`);
    else count('templates, computes and other documents', await put('document', { ...document, body }));
  }
  // Unknown in a lost row, and in one of an earlier release.
  for (const row of found.remoteObjects) await put('remote_object', { ...row, deleted: Number(row['deleted'] ?? 0) });
  const fromFiles: string[] = [];
  for (const { records, state, ...lab } of labs.values()) {
    const id = String(lab.project_id);
    await put('project', { project_id: id, body: '' });
    count('open labs', await put('lab', { project_id: id, closing: state?.['closing'] ?? 0 }));
    if (records === undefined) {
      fromFiles.push(id);
      continue;
    }
    for (const record of records) await put('lab_record', { ...record, body: String(record['body']) });
    // Changes that may be missing in the file are written to it.
    const { changes = 1, written = 0, fingerprint = null, coming = null } = state ?? {};
    await database.run(
      'UPDATE lab SET changes = ?2, written = ?3, fingerprint = ?4, coming = ?5 WHERE project_id = ?1',
      ...[id, changes, written, fingerprint, coming],
    );
  }
  return { rows, lost, incomplete: found.incomplete, fromFiles };
}
