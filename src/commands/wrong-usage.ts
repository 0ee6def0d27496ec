// A mistake in a command line, which has an exit code of its own.
import { Failure } from '../failures.ts';

/** Exit code for it. */
export const WRONG_USAGE = 2;

export class WrongUsage extends Failure {
  constructor(message: string) {
    super('invalid', message);
  }
}
