// Exchanges the files of a project for those of a snapshot, and back again if anything goes wrong, be it the end of this process.
//
// In the staging folder, `new` holds what comes, `before` collects what it replaces, and `lab.gns3`, the topology that comes, is
// moved into its place last: as long as it is there the exchange has not happened, and `before` goes back at the next start.
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../failures.ts';
import { fileFailure } from '../../host/atomic-file.ts';
import { log } from '../../host/log.ts';
import { stagingsLeft } from '../archives/staging.ts';

/** Exchanged as a whole: what a snapshot does not have of it goes. Files elsewhere in the project stay unless they are replaced. */
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

/** Puts `new` and `lab.gns3` into the project; `undo` takes them out again. */
export async function exchangeFiles({ staging, path, filename }: Exchange, undo: AsyncDisposableStack): Promise<void> {
  try {
    await writeFile(join(staging, NOTE), JSON.stringify({ path, filename }));
    await mkdir(join(staging, BEFORE));
    await mkdir(join(staging, NEW, WHOLE), { recursive: true });
    await swap({ from: join(staging, NEW), to: path, before: join(staging, BEFORE) }, WHOLE, undo);
    await merge({ from: join(staging, NEW), to: path, before: join(staging, BEFORE) }, '', undo);
    await swap({ from: staging, to: path, before: join(staging, BEFORE) }, TOPOLOGY, undo, filename);
  } catch (error) {
    throw fileFailure(error, path);
  }
}

interface Places {
  from: string;
  to: string;
  /** Takes what was at `to`, under the same name. */
  before: string;
}

/** Moves one thing, whatever it is, to where another one may be; that is put aside. */
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

/** Moves what is in a folder to another one; folders that both have are merged. Links are never followed. */
async function merge(places: Places, folder: string, undo: AsyncDisposableStack): Promise<void> {
  for (const entry of await readdir(join(places.from, folder), { withFileTypes: true })) {
    const name = join(folder, entry.name);
    if (entry.isDirectory() && (await isFolder(join(places.to, name)))) await merge(places, name, undo);
    else await swap(places, name, undo);
  }
}

/** Makes good what ended in the middle: exchanges that had not happened are taken back, the staging folders in `directory` go. */
export async function recoverExchanges(directory: string): Promise<void> {
  for (const staging of await stagingsLeft(directory)) {
    try {
      await takeBack(staging);
      await rm(staging, { recursive: true, force: true });
    } catch (error) {
      log.error('files of a snapshot that was being restored cannot be taken back', {
        staging,
        error: messageOf(error),
      });
    }
  }
}

async function takeBack(staging: string): Promise<void> {
  const note = await readFile(join(staging, NOTE), 'utf8').catch(() => undefined);
  if (note === undefined || !(await exists(join(staging, TOPOLOGY)))) return;
  const { path, filename } = JSON.parse(note) as { path: string; filename: string };
  const before = join(staging, BEFORE);
  log.warn('a snapshot was being restored when the server ended: the project is as it was before', { path });
  await using undo = new AsyncDisposableStack();
  const places = { from: before, to: path, before: join(staging, 'after') };
  if (await exists(join(before, WHOLE))) await swap(places, WHOLE, undo);
  if (await exists(join(before, filename))) await swap(places, filename, undo);
  if (await exists(before)) await merge(places, '', undo);
  undo.move();
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}
