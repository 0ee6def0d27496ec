// Where projects may be on this disk.
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { conflict, forbidden, systemCode } from '../../failures.ts';
import { fileFailure, throwFileFailure } from '../../host/files/atomic-file.ts';
import { disjointPaths } from '../../host/files/disjoint-paths.ts';
import { isBelow, resolveExisting } from '../../host/files/relative-path.ts';
import { refuseReservedNames } from '../../host/files/reserved-names.ts';
import type { ProjectRecord } from '../../store/projects.ts';

export interface PlaceRules {
  /** The projects directory. */
  root: string;
  /** Whether clients may name other paths of this host. */
  local: boolean;
}

/**
 * The directory for a project: the client's path (relative to the projects directory), or a folder named by its id.
 * @throws Failure `forbidden` for a forbidden place
 */
export async function placeFor(id: string, path: string | null | undefined, rules: PlaceRules): Promise<string> {
  const place = resolve(rules.root, path ?? id);
  if (place.includes('\0')) throw forbidden('path: must not contain a NUL character.');
  if (place.includes('"')) throw forbidden('path: must not contain a quotation mark.');
  refuseReservedNames(place, 'path');
  if (!(await liesBelow(rules.root, place)) && !(await apart(rules.root, place))) {
    throw forbidden(`path: ${place} holds all projects; name a folder of its own.`);
  }
  if (!rules.local && !(await liesBelow(rules.root, place))) {
    throw forbidden(`path: must lie below ${rules.root}; only a server in local mode takes other places.`);
  }
  return place;
}

async function apart(one: string, other: string): Promise<boolean> {
  return disjointPaths(one, other).catch(throwFileFailure(other));
}

/** @throws Failure `conflict` when a place is, contains or is in the directory of one of the other projects */
export async function refuseShared(
  place: string,
  others: Iterable<Pick<ProjectRecord, 'name' | 'path'>>,
): Promise<void> {
  for (const { name, path } of others) {
    if (await apart(place, path)) continue;
    throw conflict(`path: ${place} belongs to the lab "${name}" in ${path}; name another folder.`);
  }
}

/** @throws Failure `conflict` unless the place is missing or an empty folder */
export async function mustBeVacant(place: string): Promise<void> {
  const names = await readdir(place).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw fileFailure(error, place);
  });
  if (names.length === 0) return;
  throw conflict(`path: ${place} holds something already; name another folder, or empty this one.`);
}

/** File name of a new project; a slash in the name must not lead elsewhere. */
export function fileNameOf(name: string): string {
  return `${name.replaceAll(/[/\\\0]/g, '-')}.gns3`;
}

/** Whether `path`, with links resolved as far as it exists, is strictly below `root`. */
export async function liesBelow(root: string, path: string): Promise<boolean> {
  try {
    return isBelow(await resolveExisting(root), await resolveExisting(path));
  } catch (thrown) {
    throw fileFailure(thrown, path);
  }
}
