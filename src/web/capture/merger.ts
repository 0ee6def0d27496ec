// Brings the frames of several captures into the order of their times. A frame waits until no other capture that still
// speaks can have an earlier one.
import type { Frame } from './frames.ts';

/** Milliseconds without a word, after which nobody waits for a capture. The server tells of a frame within 100 ms. */
const QUIET_MS = 400;

interface Source {
  waiting: Frame[];
  /** The time of its newest frame. */
  newest: number;
  /** When it was last heard of, in milliseconds. */
  heard: number;
}

export class Merger {
  readonly #sources = new Map<number, Source>();

  /** A capture of which frames may come: others wait for it a while. `now` in milliseconds. */
  expect(source: number, now: number): void {
    this.#sources.set(source, { waiting: [], newest: -Infinity, heard: now });
  }

  /** A capture of which nothing comes for now. */
  leave(source: number): void {
    this.#sources.get(source)!.heard = -Infinity;
  }

  add(source: number, frames: readonly Frame[], now: number): void {
    const known = this.#sources.get(source)!;
    for (const frame of frames) known.waiting.push(frame);
    known.newest = frames.at(-1)?.time ?? known.newest;
    known.heard = now;
  }

  get isEmpty(): boolean {
    return [...this.#sources.values()].every(({ waiting }) => waiting.length === 0);
  }

  /** What has waited long enough, in its order. */
  take(now: number): Frame[] {
    const all = [...this.#sources.values()];
    const speaking = all.filter(({ heard }) => now - heard < QUIET_MS);
    const until = all.length === 1 ? Infinity : Math.min(...speaking.map(({ newest }) => newest));
    const taken: Frame[] = [];
    for (const source of all) {
      const later = source.waiting.findIndex(({ time }) => time > until);
      const count = later < 0 ? source.waiting.length : later;
      for (const frame of source.waiting.splice(0, count)) taken.push(frame);
    }
    // Of one capture the order is that in which its frames came, whatever its clock says.
    return all.length === 1 ? taken : taken.sort((one, other) => one.time - other.time);
  }
}
