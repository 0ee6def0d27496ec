// Progress and cancellation of long work, found in the async context: code that unpacks an archive or copies a folder
// reports to its caller's operation without knowing it, and stops when that is cancelled.
import { AsyncLocalStorage } from 'node:async_hooks';

export type ProgressUnit = 'bytes' | 'nodes';

export interface Progress {
  /** Aborted when the work must end and leave nothing behind. */
  readonly signal: AbortSignal;
  /** Adds work that was not known before. Only the first unit used counts; others are ignored. */
  expect(more: number, unit: ProgressUnit): void;
  /** Reports work done. */
  advance(more: number, unit: ProgressUnit): void;
  /** The current step, in a word or two. */
  say(message: string): void;
  /** @throws Failure `conflict` once the work was cancelled */
  check(): void;
  /** From here on the work cannot be cancelled. @throws as `check` */
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

/** The progress of the work that the caller is part of. */
export function ongoing(): Progress {
  return current.getStore() ?? NOBODY;
}

/** Runs a part of the work. */
export function within<T>(progress: Progress, part: () => T): T {
  return current.run(progress, part);
}

/** Passes on the pieces of a stream of bytes and counts them. Fails when the work is cancelled. */
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
