// Files that belong to labs but are not in the database, such as those of closed labs: in the object store by their content, and listed in the
// database, so that the next controller has them.
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as v from 'valibot';
import { ignore, systemCode } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';
import { isBelow, relativeBelow } from '../host/files/relative-path.ts';
import { isReservedName } from '../host/files/reserved-names.ts';
import { eachOf } from '../host/values/each-of.ts';
import { KeyedLock } from '../host/values/keyed-lock.ts';
import type { Documents } from '../store/documents.ts';
import type { Objects } from './objects.ts';

const MIB = 2 ** 20;
/** Larger files, such as disks, stay on their host. */
export const LARGEST_FILE_BYTES = 16 * MIB;
const LARGEST_BYTES = 512 * MIB;
const AT_ONCE = 8;
/** Time limit (ms) for fetching a file, beside others. */
const FETCHED_MS = 60_000;
const KIND = 'files';
const REMOVAL = 'removal';
const CHANGE = 'change';
/** In the directory of the copy of the database: the paths of the shared files that are on this host. */
const HERE = 'files.json';

const Entry = v.object({ sha256: v.string(), size: v.number(), modified: v.number(), mode: v.number() });
type Entry = v.InferOutput<typeof Entry>;

/** A file, or a folder with all that is below it. */
export interface Shared {
  path: string;
  /** Names in the folder that are left out. */
  without?: readonly string[];
  /** Name of files that refer to others: they are stored after those, and before what they no longer refer to is removed. */
  last?: string;
  /** Its files are left out once there are so many bytes of all. */
  most?: number;
  /** Id of a closed lab that has these files. */
  closedLab?: string;
}

export type FileListing = Pick<Documents, 'list' | 'change'>;

export interface Restored {
  /** Files that are listed elsewhere belong to nothing any more. */
  places?: readonly Shared[];
  /** Whether a file (absolute path) stays as it is here, whatever is listed. Called only where it would change. */
  leaves?: (path: string) => Promise<boolean>;
  /** After it nothing is written any more. */
  signal?: AbortSignal;
}

const OBJECT = 'file-';
const objectOf = (sha256: string): string => `${OBJECT}${sha256}`;

export class SharedFiles {
  readonly #state: string;
  readonly #roots: readonly string[];
  readonly #here: string;
  /** Removals run alone: a file that is being stored may have a content that was found in the list. So do changes of the list. */
  readonly #turns = new KeyedLock();
  /** Calls that store files now. */
  #storing = 0;
  /** Contents that a file had, and perhaps none has now. */
  readonly #unused = new Set<string>();
  /** Parts of objects that the last sweep has left. */
  #left: ReadonlySet<string> = new Set();

  /**
   * @param state the state directory
   * @param roots directories outside of it in which there may be shared files
   * @param directory of the copy of the database
   */
  constructor({ state, roots, directory }: { state: string; roots: readonly string[]; directory: string }) {
    this.#state = state;
    this.#roots = roots;
    this.#here = join(directory, HERE);
  }

  /**
   * Stores files that have changed, and forgets those that are gone. Returns the paths of files that are too large.
   * @throws the reason why not all were stored; the next call goes on
   */
  async keep(objects: Objects, listing: FileListing, shared: readonly Shared[]): Promise<string[]> {
    await this.#turns.run(REMOVAL, () => {
      this.#storing += 1;
    });
    const { left, failure } = await this.#store(objects, listing, shared).finally(() => {
      this.#storing -= 1;
    });
    await this.#removeUnused(async () => objects, listing);
    if (failure !== undefined) throw failure;
    return left;
  }

  async #store(
    objects: Objects,
    listing: FileListing,
    shared: readonly Shared[],
  ): Promise<{ left: string[]; failure: unknown }> {
    const known = await entriesOf(listing);
    const listed = new Map([...known].filter(([path]) => shared.some((one) => this.#covers(one, path))));
    const stored = contentsOf(known);
    const found = new Map<string, Stats>();
    for (const { path, without } of shared) await this.#find(path, found, without);
    const left: string[] = [];
    /** Folders with files of a limited place that are too large, or too many: the file that names them is not stored, either. */
    const leftIn = new Set<string>();
    let bytes = [...known.values()].reduce((sum, { size }) => sum + size, 0);
    const changed = [...found].filter(([path, { size, mtimeMs }]) => {
      const before = listed.get(path);
      return before?.size !== size || before.modified !== Math.trunc(mtimeMs);
    });
    const entries = new Map<string, Entry>();
    let failure: unknown;
    const store = async (file: [string, Stats]): Promise<void> => {
      if (failure === undefined)
        await storeOne(file).catch((error: unknown) => {
          failure ??= error;
        });
    };
    const storeOne = async ([path, { size, mtimeMs, mode }]: [string, Stats]): Promise<void> => {
      const { most } = shared.find((one) => this.#covers(one, path)) ?? {};
      if (size > LARGEST_FILE_BYTES || bytes + size > (most ?? LARGEST_BYTES)) {
        left.push(this.#absolute(path));
        if (most !== undefined) leftIn.add(dirname(path));
        return;
      }
      bytes += size - (listed.get(path)?.size ?? 0);
      const content = await readFile(this.#absolute(path)).catch(ignoreMissing);
      // One that changes now is stored in the next round.
      if (content?.length !== size) return;
      const sha256 = createHash('sha256').update(content).digest('hex');
      if (!stored.has(sha256)) await objects.put(objectOf(sha256), content);
      stored.add(sha256);
      const entry: Entry = { sha256, size, modified: Math.trunc(mtimeMs), mode: mode & 0o777 };
      entries.set(path, entry);
    };
    const isLast = ([path]: [string, Stats]): boolean =>
      shared.some((one) => one.last === basename(path) && this.#covers(one, path));
    await eachOf(
      changed.filter((one) => !isLast(one)),
      AT_ONCE,
      store,
    );
    const mayStore = ([path]: [string, Stats]): boolean => !leftIn.has(dirname(path));
    await eachOf(
      changed.filter((one) => isLast(one) && mayStore(one)),
      AT_ONCE,
      store,
    );
    await this.#turns.run(CHANGE, async () => {
      const now = await entriesOf(listing);
      // Another call may have listed a newer content of a file meanwhile.
      for (const [path, { modified }] of entries) {
        const other = now.get(path)?.modified;
        if (other !== undefined && other !== known.get(path)?.modified && other >= modified) entries.delete(path);
      }
      // In one change: the next controller has a new lab as a whole. After a failure it does not yet have the file that names the others.
      if (entries.size > 0)
        await listing.change([...entries].map(([id, body]) => ({ kind: KIND, id, body }))).then(
          () => {
            for (const [path, entry] of entries) now.set(path, entry);
          },
          (error: unknown) => {
            failure ??= error;
          },
        );
      // A full store gets room again by what is gone, but not by what a file that was not stored still refers to.
      const mayGo = (path: string): boolean =>
        (failure === undefined && !leftIn.has(dirname(path))) ||
        !shared.some((one) => one.last !== undefined && this.#covers(one, path));
      const gone: string[] = [];
      for (const path of listed.keys()) {
        if (found.has(path) || !mayGo(path)) continue;
        // It may have been made again, and kept, while others were stored.
        if (!(await lstat(this.#absolute(path)).catch(ignoreMissing))?.isFile()) gone.push(path);
      }
      await remove(listing, gone);
      for (const path of gone) now.delete(path);
      const used = contentsOf(now);
      for (const sha256 of stored) if (!used.has(sha256)) this.#unused.add(sha256);
      await this.#noteHere(now.keys());
    });
    return { left, failure };
  }

  /** Forgets files that are in none of these places, such as those of a deleted lab. */
  async forget(
    objects: () => Promise<Objects>,
    listing: FileListing,
    shared: () => Promise<readonly Shared[]>,
  ): Promise<void> {
    const known = await entriesOf(listing);
    // Asked for after that: files of a new lab may just have been listed.
    const places = await shared();
    const gone = [...known].filter(([path]) => !this.#isIn(places, path));
    await remove(
      listing,
      gone.map(([path]) => path),
    );
    for (const [, { sha256 }] of gone) this.#unused.add(sha256);
    await this.#removeUnused(objects, listing);
  }

  /** Leaves it to the last of the calls that store files now. What NATS does not remove goes with a later call. */
  async #removeUnused(objects: () => Promise<Objects>, listing: FileListing): Promise<void> {
    const removal = this.#turns.run(REMOVAL, async () => {
      if (this.#storing > 0 || this.#unused.size === 0) return;
      const used = contentsOf(await entriesOf(listing));
      for (const sha256 of this.#unused) {
        if (!used.has(sha256)) await (await objects()).remove(objectOf(sha256));
        this.#unused.delete(sha256);
      }
    });
    await removal.catch(ignore);
  }

  /**
   * Removes from the store what no listed file has, such as what controllers that died have left.
   * @param isCertain whether this host has been the controller all the time
   * @returns false while files are being stored
   */
  async sweep(objects: Objects, listing: FileListing, isCertain: () => boolean): Promise<boolean> {
    const stored = await objects.stored();
    return this.#turns.run(REMOVAL, async () => {
      // One that is not listed yet would be taken for unused.
      if (this.#storing > 0) return false;
      const used = new Set([...contentsOf(await entriesOf(listing))].map(objectOf));
      const isWanted = (name: string): boolean => !name.startsWith(OBJECT) || used.has(name) || !isCertain();
      this.#left = await objects.removeRest(stored, { isWanted, former: this.#left });
      return true;
    });
  }

  /**
   * Makes the files here as they are listed.
   * @param fetch reads an object, with a time limit (ms); not called if all files are here
   */
  async restore(
    fetch: (name: string, limit: number) => Promise<Uint8Array | undefined>,
    listing: FileListing,
    { places, leaves, signal }: Restored = {},
  ): Promise<void> {
    const listed = [...(await entriesOf(listing))];
    const known = new Map(places ? listed.filter(([path]) => this.#isIn(places, path)) : listed);
    signal?.throwIfAborted();
    const left: string[] = [];
    for (const path of await this.#pathsHere()) {
      if (known.has(path) || !this.#isAllowed(path)) continue;
      if (await leaves?.(this.#absolute(path))) left.push(path);
      else await this.#remove(path);
    }
    await eachOf([...known], AT_ONCE, async ([path, { sha256, size, modified, mode }]) => {
      if (!this.#isAllowed(path)) return;
      const absolute = this.#absolute(path);
      const present = await stat(absolute).catch(ignoreMissing);
      if (present?.size === size && Math.trunc(present.mtimeMs) === modified) return;
      if (await leaves?.(absolute)) return;
      const content = await fetch(objectOf(sha256), FETCHED_MS);
      if (!content) return;
      signal?.throwIfAborted();
      await mkdir(dirname(absolute), { recursive: true, mode: 0o700 });
      await writeFileAtomically(absolute, content, { mode });
      await utimes(absolute, modified / 1000, modified / 1000);
    });
    await this.#noteHere([...known.keys(), ...left]);
  }

  /** Whether a file is in one of these places, also where it is left out. */
  #isIn(places: readonly Shared[], listed: string): boolean {
    return places.some(({ path }) => this.#covers({ path }, listed));
  }

  #covers({ path, without = [] }: Shared, listed: string): boolean {
    const absolute = this.#absolute(listed);
    if (absolute === path) return true;
    const below = relativeBelow(path, absolute);
    return below !== undefined && !without.includes(below.split('/')[0] ?? '');
  }

  /** Files that the server is writing are left out, and all that is neither file nor folder. */
  async #find(path: string, found: Map<string, Stats>, without: readonly string[] = []): Promise<void> {
    const status = await lstat(path).catch(ignoreMissing);
    if (status?.isFile()) found.set(relativeBelow(this.#state, path) ?? path, status);
    if (!status?.isDirectory()) return;
    for (const name of await readdir(path)) {
      if (!without.includes(name) && !isReservedName(name)) await this.#find(join(path, name), found);
    }
  }

  #absolute(path: string): string {
    return isAbsolute(path) ? path : join(this.#state, path);
  }

  #isAllowed(path: string): boolean {
    const absolute = this.#absolute(path);
    return [this.#state, ...this.#roots].some((root) => isBelow(root, absolute));
  }

  /** Also the folders that are empty then, below those of this server: an empty one would be what is left of a lab. */
  async #remove(path: string): Promise<void> {
    const absolute = this.#absolute(path);
    await rm(absolute, { force: true });
    const depth = (relativeBelow(this.#state, absolute) ?? '').split('/').length;
    let folder = dirname(absolute);
    for (let left = depth - 2; left > 0; left -= 1) {
      if (
        !(await rmdir(folder).then(
          () => true,
          () => false,
        ))
      )
        return;
      folder = dirname(folder);
    }
  }

  async #pathsHere(): Promise<string[]> {
    const text = await readFile(this.#here, 'utf8').catch(ignoreMissing);
    return text === undefined ? [] : v.parse(v.array(v.string()), JSON.parse(text));
  }

  async #noteHere(paths: Iterable<string>): Promise<void> {
    await writeFileAtomically(this.#here, JSON.stringify([...paths]), { mode: 0o600 });
  }
}

const contentsOf = (entries: ReadonlyMap<string, Entry>): Set<string> =>
  new Set([...entries.values()].map(({ sha256 }) => sha256));

async function entriesOf(listing: FileListing): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  for (const { id, body } of await listing.list(KIND)) {
    const entry = v.safeParse(Entry, body);
    if (entry.success) entries.set(id, entry.output);
  }
  return entries;
}

function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error;
}

async function remove(listing: FileListing, paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await listing.change(paths.map((id) => ({ kind: KIND, id, body: undefined })));
}
