// Checks what outlives the server: the database, and the nodes' programs.
import { readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sqlite3 from 'sqlite3';
import { messageOf } from '../failures.ts';
import { quoted } from '../host/terminal/shell-word.ts';
import { commands, missing, ok, type Verdict, warning } from '../host/values/check-result.ts';
import { damagedRecords } from '../store/damaged-records.ts';
import { CHECK, settle } from '../store/database.ts';
import { MIGRATIONS } from '../store/migrations.ts';
import { DATABASE } from '../store/other-states.ts';
import type { Check, Patient } from './check.ts';

const MIB = 2 ** 20;
const FOR_OTHERS = 0o077;
const RECOVER = 'labwired recover rebuilds it from what can be read; or put a copy of it back';

/** Checks the file without locking, writing or creating other files. */
async function soundness(path: string): Promise<Verdict | undefined> {
  const flags = sqlite3.OPEN_READONLY | sqlite3.OPEN_URI;
  const connection = await new Promise<sqlite3.Database>((resolve, reject) => {
    const url = `${pathToFileURL(path).href}?immutable=1`;
    const opening = new sqlite3.Database(url, flags, (error) => (error === null ? resolve(opening) : reject(error)));
  });
  try {
    const all = <Row>(sql: string) => settle<Row[]>((done) => connection.all(sql, done));
    const [check] = await all<{ integrity_check: string }>(CHECK);
    if (check?.integrity_check !== 'ok') return missing(`${path} is damaged (${check?.integrity_check})`, RECOVER);
    const version = (await all<{ user_version: number }>('PRAGMA user_version'))[0]?.user_version ?? 0;
    if (version > MIGRATIONS.length) {
      return missing(
        `${path} was written by a later release`,
        'start that release, or choose another directory with --state',
      );
    }
    const damaged = (await damagedRecords(all)).map(({ table, id }) => `${table} ${id}`);
    if (damaged.length === 0) return undefined;
    return warning(
      `${path} has records that cannot be read: ${damaged.join(', ')}`,
      'labwired recover repairs or removes them, and keeps a copy of them',
    );
  } catch (thrown) {
    return missing(`${path} is damaged (${messageOf(thrown).replaceAll(/\s+/g, ' ')})`, RECOVER);
  } finally {
    await settle((done) => connection.close(done));
  }
}

async function examineDatabase({ loaded: { config }, daemon }: Patient): Promise<Verdict | undefined> {
  const path = join(config.state, DATABASE);
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) return undefined;
  if ((status.mode & FOR_OTHERS) !== 0)
    return warning(`${path} can be read by other users`, commands(`chmod 600 ${quoted(path)}`));
  const detail = `${path}, ${(status.size / MIB).toFixed(1)} MiB`;
  if (daemon !== undefined) return ok(`${detail}, checked by the running labwired at its start`);
  const log = await stat(`${path}-wal`).catch(() => undefined);
  if (log && log.size > 0)
    return ok(`${detail}; the next start takes over what the last one had no time to put in its place`);
  return (await soundness(path)) ?? ok(`${detail}, sound`);
}

export const database: Check = {
  subject: 'database',
  see: 'operations#backup-restore-and-what-can-be-damaged',
  examine: examineDatabase,
};

/** The process that works in this directory. */
async function processIn(directory: string): Promise<number | undefined> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    if (cwd === directory) return Number(pid);
  }
  return undefined;
}

async function examineSupervisor({ loaded: { config }, daemon }: Patient): Promise<Verdict | undefined> {
  const directory = join(config.state, 'supervisor');
  const status = await stat(directory).catch(() => undefined);
  if (status === undefined) return undefined;
  if ((status.mode & FOR_OTHERS) !== 0) {
    return missing(
      `${directory} is open to other users: no node that is a program starts`,
      commands(`chmod 700 ${quoted(directory)}`),
    );
  }
  const pid = await processIn(directory);
  if (pid === undefined) return ok('does not run: no node that is a program does');
  if (daemon !== undefined) return ok(`keeps the programs of nodes (pid ${pid})`);
  return warning(
    `programs of nodes run on without a server (supervisor: pid ${pid})`,
    'start the server, which reattaches them',
  );
}

export const supervisor: Check = {
  subject: 'supervisor',
  see: 'operations#who-keeps-what-runs',
  examine: examineSupervisor,
};
