// Finds the projects: the .gns3 files below the projects directory, and projects elsewhere that the database knows.
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../failures.ts';
import { isReservedName } from '../../host/files/reserved-names.ts';
import { log } from '../../host/log.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import { hasTopologyFile, readTopologyFile } from '../../store/topology/file.ts';
import { type GivenSettings, newSettings } from '../lab/settings.ts';

export interface ScanOptions {
  /** Written into upgraded files. */
  version: string;
  /** Projects from the database. */
  known: readonly ProjectRecord[];
  /** Whether another server has a project open; its file is then only read. */
  isOthers: (project: { project_id: string; name: string; path: string }) => Promise<boolean>;
}

/** A project that was found; `damaged` is the reason if its file cannot be read. */
export interface FoundProject {
  record: ProjectRecord;
  damaged?: string;
  /** Whether its file is a copy of another project's, or in another one's folder. */
  foreign?: true;
}

const UUID = /^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/i;

/**
 * The projects below a directory, ordered by name, and the `known` ones, wherever they are. A file that cannot be a
 * project of its own is listed with the reason, under its own name: a damaged one, a copy of another project (the known
 * one is the original), a second one in a project's folder.
 */
export async function scanProjects(
  directory: string,
  { version, known, isOthers }: ScanOptions,
): Promise<FoundProject[]> {
  const knownAt = new Map(known.map((record) => [join(record.path, record.filename), record]));
  const found: FoundProject[] = [];
  for (const { path, filename } of await topologyFiles(directory)) {
    const readOnly = await isOthers({ project_id: path, name: filename, path });
    const project = await readProject(path, filename, { version, readOnly, known: knownAt.get(join(path, filename)) });
    if (project !== undefined) found.push(project);
    knownAt.delete(join(path, filename));
  }
  for (const record of knownAt.values()) {
    if (await hasFile(record)) found.push({ record });
  }
  return found.map((project) => ({
    ...project,
    ...(project.damaged === undefined && standsBehind(project, found, known)),
  }));
}

/** The topology files in a directory's folders. */
async function topologyFiles(directory: string): Promise<{ path: string; filename: string }[]> {
  const folders = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const files: { path: string; filename: string }[] = [];
  for (const folder of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!folder.isDirectory() || isReservedName(folder.name)) continue;
    const path = join(directory, folder.name);
    const names = (await readdir(path).catch(() => [])).filter((name) => name.endsWith('.gns3'));
    files.push(...names.sort().map((filename) => ({ path, filename })));
  }
  return files;
}

/**
 * The damaged entry for a file that repeats another project or is in its folder; undefined for a project of its own.
 */
function standsBehind(
  { record }: FoundProject,
  found: readonly FoundProject[],
  known: readonly ProjectRecord[],
): FoundProject | undefined {
  const isKnown = (one: ProjectRecord): boolean =>
    known.some((other) => other.project_id === one.project_id && placeOf(other) === placeOf(one));
  const own = found.filter((one) => one.damaged === undefined || isKnown(one.record)).map((one) => one.record);
  const first = (rivals: ProjectRecord[]): ProjectRecord | undefined => rivals.find(isKnown) ?? rivals[0];
  const original = first(own.filter(({ project_id: id }) => id === record.project_id));
  const owner = first(own.filter(({ path }) => path === record.path));
  let reason: string;
  if (original && placeOf(original) !== placeOf(record)) {
    reason = `it is a copy of the project in ${placeOf(original)}; to keep both, duplicate that one, or import its archive`;
  } else if (owner && placeOf(owner) !== placeOf(record)) {
    reason = `it is in the folder of the project in ${placeOf(owner)}; give it a folder of its own`;
  } else return undefined;
  log.warn('a file is no project of its own; it is listed, but does not open', { file: placeOf(record), reason });
  return {
    record: { ...record, project_id: nameBasedId(placeOf(record)) },
    damaged: `${placeOf(record)}: ${reason}`,
    foreign: true,
  };
}

function placeOf({ path, filename }: ProjectRecord): string {
  return join(path, filename);
}

/** Undefined for a hidden file that is not a project, such as other systems leave beside each file. */
async function readProject(
  path: string,
  filename: string,
  { version, readOnly, known }: { version: string; readOnly: boolean; known: ProjectRecord | undefined },
): Promise<FoundProject | undefined> {
  try {
    const { topology } = await readTopologyFile(join(path, filename), { version, readOnly });
    const settings = newSettings(topology.name, topology as GivenSettings);
    return { record: { ...settings, project_id: topology.project_id, path, filename } };
  } catch (error) {
    if (known === undefined && filename.startsWith('.')) return undefined;
    const reason = messageOf(error);
    log.warn('a project is damaged; it is listed, but does not open', { file: join(path, filename), reason });
    if (known !== undefined) return { record: known, damaged: reason };
    const folder = basename(path);
    const record = {
      ...newSettings(filename.replace(/\.gns3$/, ''), {}),
      project_id: UUID.test(folder) ? folder : nameBasedId(path),
      path,
      filename,
    };
    return { record, damaged: reason };
  }
}

/** A stable id for a damaged project in a folder that is not named by one. */
function nameBasedId(path: string): string {
  return createHash('sha256')
    .update(path)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** When a project's file was last written; null if it cannot be read. */
export async function changedAt({ path, filename }: ProjectRecord): Promise<string | null> {
  const status = await stat(join(path, filename)).catch(() => null);
  return status?.mtime.toISOString() ?? null;
}

/** Whether a known project still has its file. */
export async function hasFile({ path, filename }: ProjectRecord): Promise<boolean> {
  return hasTopologyFile(join(path, filename)).catch(() => false);
}
