// A command line error, which has its own exit code.
import { Failure } from '../failures.ts';

/** Exit code for it. */
export const WRONG_USAGE = 2;

export class WrongUsage extends Failure {
  constructor(message: string) {
    super('invalid', message);
  }
}
