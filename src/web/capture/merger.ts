// Merges the frames of several captures by time. A frame waits until no other active capture can deliver an earlier one,
// but not longer than captures are silent: the clocks of their hosts may differ by any time.
import type { Frame } from './frames.ts';

/** Milliseconds without data after which a capture is not waited for, and that a frame waits at most. The server sends a frame within 100 ms. */
const QUIET_MS = 400;

interface Source {
  /** The frames, and when they arrived in milliseconds. */
  waiting: { frame: Frame; since: number }[];
  /** Time of its newest frame. */
  newest: number;
  /** When it last delivered data, in milliseconds. */
  heard: number;
}

export class Merger {
  readonly #sources = new Map<number, Source>();

  /** Marks a capture as active: frames of others wait for it for a while. `now` in milliseconds. */
  expect(source: number, now: number): void {
    this.#sources.set(source, { waiting: [], newest: -Infinity, heard: now });
  }

  /** Marks a capture as inactive. */
  leave(source: number): void {
    this.#sources.get(source)!.heard = -Infinity;
  }

  add(source: number, frames: readonly Frame[], now: number): void {
    const known = this.#sources.get(source)!;
    for (const frame of frames) known.waiting.push({ frame, since: now });
    known.newest = frames.at(-1)?.time ?? known.newest;
    known.heard = now;
  }

  get isEmpty(): boolean {
    return [...this.#sources.values()].every(({ waiting }) => waiting.length === 0);
  }

  /** Takes the frames that have waited long enough, in order. */
  take(now: number): Frame[] {
    const all = [...this.#sources.values()];
    const speaking = all.filter(({ heard }) => now - heard < QUIET_MS);
    const until = all.length === 1 ? Infinity : Math.min(...speaking.map(({ newest }) => newest));
    const taken: Frame[] = [];
    for (const source of all) {
      const later = source.waiting.findIndex(({ frame, since }) => frame.time > until && now - since < QUIET_MS);
      const count = later < 0 ? source.waiting.length : later;
      for (const { frame } of source.waiting.splice(0, count)) taken.push(frame);
    }
    // Frames of a single capture keep their order, whatever their clock says.
    return all.length === 1 ? taken : taken.sort((one, other) => one.time - other.time);
  }
}
