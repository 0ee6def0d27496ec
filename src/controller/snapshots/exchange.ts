// Replaces the files of a project by those of a snapshot, and rolls back after any failure or crash.
//
// In the staging folder, `new` holds the new files and `before` collects the replaced ones. `lab.gns3`, the new
// topology, is moved into place last: while it is there the exchange is incomplete, and the next start moves `before`
// back.
import { lstat, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import * as v from 'valibot';
import { fileFailure, writeFileAtomically } from '../../host/files/atomic-file.ts';
import { exists } from '../../host/files/exists.ts';
import { log } from '../../host/log.ts';
import { CAPTURES_DIRECTORY } from '../../store/captures.ts';
import { endStagings } from '../staging.ts';

/**
 * Replaced as a whole, except for the captures, which no snapshot has: files that the snapshot does not have are
 * removed. Files elsewhere in the project stay unless the snapshot has them.
 */
const WHOLE = 'project-files';
const NOTE = 'exchange.json';

export const NEW = 'new';
export const TOPOLOGY = 'lab.gns3';
const BEFORE = 'before';

export interface Exchange {
  /** Staging folder, on the file system of the project. */
  staging: string;
  /** Directory of the project. */
  path: string;
  /** Name of its topology file. */
  filename: string;
}

/** What the next start needs for a rollback; written before anything is moved. */
const Note = v.object({
  /** The project's path relative to the parent of the staging folder: in a copy of both it leads to the copy. */
  path: v.string(),
  filename: v.string(),
  /** Paths of entirely new files, relative to the project. */
  added: v.optional(v.array(v.string()), []),
});

/** Moves `new` and `lab.gns3` into the project; `undo` moves them out again. */
export async function exchangeFiles({ staging, path, filename }: Exchange, undo: AsyncDisposableStack): Promise<void> {
  try {
    const from = join(staging, NEW);
    await mkdir(join(staging, BEFORE));
    await mkdir(join(from, WHOLE), { recursive: true });
    const added = await whatIsAdded(from, path);
    if (!(await exists(join(path, filename)))) added.push(filename);
    await writeFileAtomically(
      join(staging, NOTE),
      JSON.stringify({ path: relative(dirname(staging), path), filename, added }),
    );
    const places = { from, to: path, before: join(staging, BEFORE) };
    await swap(places, WHOLE, undo);
    if (await moveCaptures(places.before, path)) undo.defer(async () => void (await moveCaptures(path, places.before)));
    await merge(places, '', undo);
    await swap({ ...places, from: staging }, TOPOLOGY, undo, filename);
  } catch (error) {
    throw fileFailure(error, path);
  }
}

/** What `merge` would add without replacing anything. */
async function whatIsAdded(from: string, to: string, folder = ''): Promise<string[]> {
  const added: string[] = [];
  for (const entry of await readdir(join(from, folder), { withFileTypes: true })) {
    const name = join(folder, entry.name);
    if (!(await exists(join(to, name)))) added.push(name);
    else if (name !== WHOLE && entry.isDirectory() && (await isFolder(join(to, name))))
      added.push(...(await whatIsAdded(from, to, name)));
  }
  return added;
}

interface Places {
  from: string;
  to: string;
  /** Collects what was at `to`, under the same name. */
  before: string;
}

/** Moves a file or folder to its place; a present one is moved aside. */
async function swap(
  { from, to, before }: Places,
  name: string,
  undo: AsyncDisposableStack,
  as: string = name,
): Promise<void> {
  const place = join(to, as);
  if (await exists(place)) {
    await mkdir(dirname(join(before, as)), { recursive: true });
    await rename(place, join(before, as));
    undo.defer(() => rename(join(before, as), place));
  }
  await rename(join(from, name), place);
  undo.defer(() => rename(place, join(from, name)));
}

/** Moves the captures from one tree to another one, which has none. False: nothing to move. */
async function moveCaptures(from: string, to: string): Promise<boolean> {
  // A link at this place may lead out of the project.
  if (!(await isFolder(join(from, WHOLE))) || !(await isFolder(join(to, WHOLE)))) return false;
  const [captures, place] = [join(from, CAPTURES_DIRECTORY), join(to, CAPTURES_DIRECTORY)];
  if (!(await exists(captures)) || (await exists(place))) return false;
  await rename(captures, place);
  return true;
}

/** Moves the content of a folder into another one; folders in both are merged. Links are never followed. */
async function merge(places: Places, folder: string, undo: AsyncDisposableStack): Promise<void> {
  for (const entry of await readdir(join(places.from, folder), { withFileTypes: true })) {
    const name = join(folder, entry.name);
    if (entry.isDirectory() && (await isFolder(join(places.to, name)))) await merge(places, name, undo);
    else await swap(places, name, undo);
  }
}

/**
 * Recovers from a crash: rolls back incomplete exchanges and removes the staging folders in `directory`.
 * @param projects directories of the projects that may have been exchanged there
 */
export async function recoverExchanges(directory: string, projects: readonly string[]): Promise<void> {
  await endStagings(directory, (staging) => rollBack(staging, projects));
}

async function rollBack(staging: string, projects: readonly string[]): Promise<void> {
  const note = await readFile(join(staging, NOTE), 'utf8').catch(() => undefined);
  if (note === undefined || !(await exists(join(staging, TOPOLOGY)))) return;
  const { path: noted, filename, added } = v.parse(Note, JSON.parse(note));
  const path = resolve(dirname(staging), noted);
  // A note decides which files are moved: one from somewhere else must not lead outside the projects.
  if (!projects.includes(path) && dirname(path) !== dirname(staging))
    throw new Error(`${path} is no project of this server`);
  const [before, after] = [join(staging, BEFORE), join(staging, 'after')];
  log.warn('a snapshot was being restored when the server ended: the project is as it was before', { path });
  await using undo = new AsyncDisposableStack();
  for (const name of added) await putAside(join(path, name), join(after, name));
  const places = { from: before, to: path, before: after };
  if (await exists(join(before, WHOLE))) {
    await moveCaptures(path, before);
    await swap(places, WHOLE, undo);
  }
  if (await exists(join(before, filename))) await swap(places, filename, undo);
  if (await exists(before)) await merge(places, '', undo);
  undo.move();
}

/** Does nothing for a missing path. */
async function putAside(path: string, aside: string): Promise<void> {
  if (!(await exists(path))) return;
  await mkdir(dirname(aside), { recursive: true });
  await rename(path, aside);
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}
