// Finds projects whose recorded directory is outside this state directory although their files are in it: after a copy
// or move of a directory from releases that recorded absolute paths.
import { isAbsolute, join, sep } from 'node:path';
import { exists } from '../host/files/exists.ts';
import { readRegularFile } from '../host/files/regular-file.ts';
import { isBelow } from '../host/files/relative-path.ts';
import { log } from '../host/log.ts';
import type { Database } from './database.ts';
import { otherStateAround } from './other-states.ts';
import { type ProjectRecord, PUT_PROJECT, projectBody } from './projects.ts';
import type { StatePaths } from './state-paths.ts';
import { LARGEST_FILE_BYTES } from './topology/document.ts';

interface Row {
  project_id: string;
  body: string;
  path: string;
  filename: string;
}

/**
 * Records the projects' places as seen from this state directory.
 * @param root the projects directory
 * @returns the other state directories that the database named
 */
export async function relocateProjects(database: Database, paths: StatePaths, root: string): Promise<Set<string>> {
  const rows = await database.all<Row>(
    `SELECT project_id, body, body ->> '$.path' AS path, body ->> '$.filename' AS filename FROM project
      WHERE json_valid(body) AND json_type(body, '$.path') = 'text' AND json_type(body, '$.filename') = 'text'`,
  );
  const others = new Set<string>();
  for (const row of rows) {
    const path = paths.absolute(row.path);
    let place = path;
    if (!isBelow(root, path)) {
      const other = paths.stored(path) === path ? await otherStateAround(path, paths.real) : undefined;
      if (other !== undefined) others.add(other);
      const isElsewhere = isAbsolute(row.path) && other === undefined && (await exists(join(path, row.filename)));
      if (!isElsewhere) place = (await ownPlace(row, path, [root, paths.directory])) ?? path;
    }
    if (paths.stored(place) === row.path) continue;
    if (place !== path) log.info('project found in this state directory', { project: row.project_id, path: place });
    const record = { ...(JSON.parse(row.body) as ProjectRecord), path: place };
    await database.run(PUT_PROJECT, row.project_id, projectBody(record, paths));
  }
  return others;
}

/** The directory below one of the bases that matches the end of the path and has the project's file. */
async function ownPlace(row: Row, path: string, bases: readonly string[]): Promise<string | undefined> {
  const parts = path.split(sep).slice(1);
  for (const base of bases) {
    for (let first = 0; first < parts.length; first += 1) {
      const place = join(base, ...parts.slice(first));
      if (await hasProject(join(place, row.filename), row.project_id)) return place;
    }
  }
  return undefined;
}

async function hasProject(file: string, id: string): Promise<boolean> {
  try {
    const document = JSON.parse((await readRegularFile(file, LARGEST_FILE_BYTES)).toString()) as {
      project_id?: unknown;
    };
    return document.project_id === id;
  } catch {
    return false;
  }
}
