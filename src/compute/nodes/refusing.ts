// What a part of the house refuses, a node refuses: with the exception that clients know from its kind.
import { Failure } from '../../failures.ts';

/** Runs the task; a `conflict` that it throws gets the name of the exception. */
export async function refusing<T>(exception: string, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== 'conflict' || thrown.exception !== undefined) throw thrown;
    throw new Failure('conflict', thrown.message, { exception, cause: thrown });
  }
}
