// Changes of several steps that are either all done or rolled back.
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';

export interface Steps {
  /** Rolls the done steps back, the last one first, if a later one fails. */
  readonly undo: AsyncDisposableStack;
  /** Ends what the change has replaced, once no step can fail any more. */
  readonly done: AsyncDisposableStack;
}

export async function allOrNothing(task: (steps: Steps) => Promise<void>): Promise<void> {
  await using undo = new AsyncDisposableStack();
  const done = new AsyncDisposableStack();
  await task({ undo, done });
  undo.move();
  await done.disposeAsync().catch((error: unknown) => {
    log.warn('something that a change has replaced is still there', { reason: messageOf(error) });
  });
}
