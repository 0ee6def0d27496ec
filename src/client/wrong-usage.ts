// A command line that makes no sense: another exit code than what a server refuses.
import { Failure } from '../failures.ts';

export class WrongUsage extends Failure {
  constructor(message: string) {
    super('invalid', message);
  }
}
