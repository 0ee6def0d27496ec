// Makes a consistent copy of the state directory, even while a server uses it.
import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  lutimes,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  symlink,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { conflict, Failure, ignoreMissing, messageOf, notFound, outOfSpace, systemCode } from '../failures.ts';
import { createTemporaryDirectory, fileFailure } from '../host/files/atomic-file.ts';
import { namesIn } from '../host/files/directories.ts';
import { exists } from '../host/files/exists.ts';
import { isBelow, relativeBelow, resolveExisting } from '../host/files/relative-path.ts';
import { isReservedName } from '../host/files/reserved-names.ts';
import { connect, settle } from './database.ts';
import { DATABASE } from './other-states.ts';
import { CLUSTER_DATABASE } from './state-paths.ts';

/** The projects directory in the copy. */
const PROJECTS = 'projects';

/** Files that a server creates at its start, and those of the running server. */
const NOT_COPIED = /^((cluster\/replica\/)?labwire\.db(-wal|-shm)?|lock|reserve(-inodes)?|supervisor|holder)$/;

export interface BackupPlan {
  state: string;
  /** The projects directory; may be below the state directory. */
  projects: string;
  /** The copy's directory; must not exist. */
  target: string;
}

export interface BackupReport {
  files: number;
  /** Size of the files when they were copied. */
  bytes: number;
  /** Files and folders that are not in the copy, as their paths are too long for it. */
  leftOut: string[];
}

/**
 * Copies first the database, as of one moment, then the files. A lab's file in the copy is thus never older than the
 * database's knowledge of it: a start from the copy uses the newer of both.
 * @throws Failure `conflict`, `not-found`, `forbidden` or `out-of-space`; then nothing is left at the target
 */
export async function backUp({ state, projects, target }: BackupPlan): Promise<BackupReport> {
  const [from, labs, to] = (await Promise.all([state, projects, target].map(resolveExisting))) as [
    string,
    string,
    string,
  ];
  // The projects directory as configured, which may itself be a link.
  const entry = join(await resolveExisting(dirname(resolve(projects))), basename(projects));
  const apart = entry !== labs || !isBelow(from, labs);
  const names = apart ? [resolve(projects), entry, labs] : [];
  for (const source of apart ? [from, labs] : [from]) {
    if (source !== to && !isBelow(source, to)) continue;
    throw conflict(`${to} is within ${source}, which is copied; choose a directory elsewhere`);
  }
  if (await exists(to)) throw conflict(`${to} is there already; choose a directory that is not`);
  if (!(await exists(join(from, DATABASE))))
    throw notFound(`there is no labwire.db in ${from}; name the state directory with --state`);
  if (apart && entry !== join(from, PROJECTS)) await refuseSharedPlaces(join(from, PROJECTS), labs);
  const moved = (path: string): string | undefined => {
    const below = names.map((name) => relativeBelow(name, resolve(from, path))).find((way) => way !== undefined);
    return below && join(PROJECTS, below);
  };
  await using unfinished = await createTemporaryDirectory(dirname(to));
  const report: BackupReport = { files: 0, bytes: 0, leftOut: [] };
  try {
    for (const database of [DATABASE, CLUSTER_DATABASE]) {
      if (!(await exists(join(from, database)))) continue;
      const copy = join(unfinished.path, database);
      await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
      await copyDatabase(join(from, database), copy);
      if (apart) await moveProjects(copy, moved);
      await sync(copy);
    }
    await copyFolder(
      from,
      unfinished.path,
      report,
      (path) => !names.includes(path) && !NOT_COPIED.test(relativeBelow(from, path) ?? ''),
    );
    if (apart) await copyFolder(labs, join(unfinished.path, PROJECTS), report);
    await rename(unfinished.path, to);
    await sync(dirname(to));
  } catch (thrown) {
    throw thrown instanceof Failure ? thrown : fileFailure(thrown, to);
  }
  return report;
}

/** @throws Failure `conflict` if labs of the state directory and labs kept elsewhere have one place in the copy */
async function refuseSharedPlaces(own: string, labs: string): Promise<void> {
  const status = await lstat(own).catch(ignoreMissing);
  if (status === undefined) return;
  if (!status.isDirectory())
    throw conflict(`${own} is not a directory, and the copy has the labs of ${labs} there: move it away`);
  const others = new Set(await namesIn(labs));
  const shared = (await namesIn(own)).find((name) => others.has(name) && !isReservedName(name));
  if (shared === undefined) return;
  const places = `${join(own, shared)} and ${join(labs, shared)}`;
  throw conflict(`${places} would be one directory in the copy: move one of them away`);
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const connection = await connect(from, 10_000);
  try {
    await settle((done) => connection.run('VACUUM INTO ?', to, done));
  } catch (thrown) {
    const message = messageOf(thrown);
    if (/full/i.test(message)) throw outOfSpace(`${to}: no space is left for the copy`);
    throw conflict(`${from} cannot be copied (${message}); try "labwired recover" if it is damaged`);
  } finally {
    await settle((done) => connection.close(done)).catch(() => {});
  }
  await chmod(to, 0o600);
  await keepOwner(to, await lstat(from));
}

/** @param moved the place of a project in the copy, relative to the state directory; undefined if it stays the same */
async function moveProjects(database: string, moved: (path: string) => string | undefined): Promise<void> {
  const connection = await connect(database);
  try {
    const paths = "SELECT project_id AS id, body ->> '$.path' AS path FROM project WHERE json_valid(body)";
    const projects = await settle<{ id: string; path: string | null }[]>((done) =>
      connection.all(paths, done as (error: Error | null, rows: unknown[]) => void),
    );
    for (const { id, path } of projects) {
      const place = path === null ? undefined : moved(path);
      if (place === undefined) continue;
      const change = "UPDATE project SET body = json_set(body, '$.path', ?) WHERE project_id = ?";
      await settle((done) => connection.run(change, [place, id], done));
    }
  } finally {
    await settle((done) => connection.close(done));
  }
}

/** Files that vanish meanwhile are left out, and files whose path is too long. */
async function copyFolder(
  from: string,
  to: string,
  report: BackupReport,
  wanted: (path: string) => boolean = () => true,
): Promise<void> {
  const status = await lstat(from);
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    // Incomplete files and folders, which the server removes at its start.
    if (!wanted(join(from, name)) || isReservedName(name)) continue;
    try {
      await copyEntry(join(from, name), join(to, name), report, wanted);
    } catch (thrown) {
      if (systemCode(thrown) === 'ENAMETOOLONG') report.leftOut.push(join(from, name));
      else if (systemCode(thrown) !== 'ENOENT' || (await exists(join(from, name)))) throw thrown;
    }
  }
  await keepAttributes(to, status);
  await sync(to);
}

async function copyEntry(
  from: string,
  to: string,
  report: BackupReport,
  wanted: (path: string) => boolean,
): Promise<void> {
  const status = await lstat(from);
  if (status.isDirectory()) return copyFolder(from, to, report, wanted);
  if (status.isSymbolicLink()) await symlink(await readlink(from), to);
  else if (status.isFile()) {
    // Where the file system supports it, the copy shares blocks with the file until either is written.
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await sync(to);
    report.files += 1;
    report.bytes += (await lstat(to)).size;
  } else return; // sockets and pipes belong to running programs
  await keepAttributes(to, status);
}

async function keepAttributes(path: string, status: Stats): Promise<void> {
  await keepOwner(path, status);
  if (!status.isSymbolicLink()) await chmod(path, status.mode & 0o7777);
  await lutimes(path, status.atime, status.mtime);
}

/** Root copies for the service's user, who could not open root's files. */
async function keepOwner(path: string, { uid, gid }: Stats): Promise<void> {
  if (process.getuid?.() === 0) await lchown(path, uid, gid);
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, constants.O_RDONLY);
  await handle.sync();
}
