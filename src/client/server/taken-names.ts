// Names of new labs and nodes that are taken: refused, so that a script that runs twice makes nothing twice.
import { conflict, type Failure } from '../../failures.ts';

export const NUMBER = { number: { summary: 'append a number to a taken name' } } as const;

export function nameTaken(name: string): Failure {
  return conflict(`The name "${name}" is taken: choose another one, or append a number with --number.`);
}
