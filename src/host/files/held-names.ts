// Names that keep their files while another program opens those by name: it must open exactly the files that were
// checked. Files that this server would put there meanwhile wait.
import { realpath, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { conflict } from '../../failures.ts';

/** How long (ms) a new file waits. Not for ever: a holder may itself wait for the new file. */
const WAIT_MS = 60_000;
const POLL_MS = 20;

interface Place {
  holders: number;
  /** The renames to this name that have begun. */
  readonly renames: Set<Promise<void>>;
}

/** By path in the real directory. */
const places = new Map<string, Place>();

async function keyOf(path: string): Promise<string> {
  return join(await realpath(dirname(path)), basename(path));
}

function placeOf(key: string): Place {
  const place = places.get(key) ?? { holders: 0, renames: new Set() };
  places.set(key, place);
  return place;
}

function dropUnused(key: string): void {
  const { holders, renames } = placeOf(key);
  if (holders === 0 && renames.size === 0) places.delete(key);
}

/** Holds names until it is disposed of. */
export class HeldNames implements Disposable {
  readonly #keys = new Set<string>();

  /** The real paths. */
  get paths(): ReadonlySet<string> {
    return this.#keys;
  }

  /** Check the file only afterwards. */
  async hold(path: string): Promise<void> {
    const key = await keyOf(path);
    const place = placeOf(key);
    if (!this.#keys.has(key)) place.holders += 1;
    this.#keys.add(key);
    await Promise.allSettled(place.renames);
  }

  [Symbol.dispose](): void {
    for (const key of this.#keys) {
      placeOf(key).holders -= 1;
      dropUnused(key);
    }
    this.#keys.clear();
  }
}

/** Renames a file to a name that is not held. @throws Failure `conflict` if it stays held; errors of rename(2) */
export async function renameUnheld(from: string, to: string, shownAs: string): Promise<void> {
  const key = await keyOf(to);
  for (const end = performance.now() + WAIT_MS; (places.get(key)?.holders ?? 0) > 0; await sleep(POLL_MS)) {
    if (performance.now() > end)
      throw conflict(`${shownAs}: the disks of a node are being prepared from this file; try again later.`);
  }
  const { renames } = placeOf(key);
  const work = rename(from, to);
  renames.add(work);
  try {
    await work;
  } finally {
    renames.delete(work);
    dropUnused(key);
  }
}
