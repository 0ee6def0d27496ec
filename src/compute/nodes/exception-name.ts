// Clients recognise each kind of node by the name of its exception: errors of lower layers get that name.
import { conflict, Failure } from '../../failures.ts';

/** Runs the task. A `conflict` that it throws gets the name of the exception. */
export async function withExceptionName<T>(exception: string, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== 'conflict' || thrown.exception !== undefined) throw thrown;
    throw conflict(thrown.message, { exception, cause: thrown });
  }
}

/** Makes the failures `conflict` of a kind of node. */
export const refusals =
  (exception: string) =>
  (message: string, cause?: unknown): Failure =>
    conflict(message, { exception, cause });
