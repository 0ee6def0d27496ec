// How far a long piece of work has come, for those who do it: found in the async context, so that what unpacks an archive or copies a
// folder tells of it whoever has asked for it, and stops when that is not wanted any more.
import { AsyncLocalStorage } from 'node:async_hooks';

export type ProgressUnit = 'bytes' | 'nodes';

export interface Progress {
  /** Aborted when the work is to end and leave nothing behind. */
  readonly signal: AbortSignal;
  /** There is so much more to do than was known. What counts is of the unit that is named first; what is of another is not counted. */
  expect(more: number, unit: ProgressUnit): void;
  /** So much more is done. */
  advance(more: number, unit: ProgressUnit): void;
  /** What is being done, in a word or two. */
  say(message: string): void;
  /** @throws Failure `conflict` once the work was cancelled */
  check(): void;
  /** From here on it is done to its end. @throws as `check` */
  commit(): void;
}

const NOBODY: Progress = {
  signal: new AbortController().signal,
  expect: () => {},
  advance: () => {},
  say: () => {},
  check: () => {},
  commit: () => {},
};

const current = new AsyncLocalStorage<Progress>();

/** Of the work that the caller is part of. */
export function ongoing(): Progress {
  return current.getStore() ?? NOBODY;
}

/** Does a part of a work. */
export function within<T>(progress: Progress, part: () => T): T {
  return current.run(progress, part);
}

/** The pieces of a stream of bytes as they pass, counted; ends with a failure when the work is cancelled. */
export async function* counted<Piece extends Uint8Array | string>(
  pieces: AsyncIterable<Piece>,
  progress: Progress,
): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    progress.check();
    yield piece;
    progress.advance(piece.length, 'bytes');
  }
}
