import { frozen } from './frozen.ts';

/** Keeps the last of a series of equal objects, so that what is derived from one, such as its text, need not be made again. */
export class Unchanged {
  #last: object | undefined;

  /** The last object if `next` has the identical members, otherwise `next`; frozen. */
  of(next: object): object {
    if (this.#last === undefined || !isSame(this.#last, next)) this.#last = frozen(next);
    return this.#last;
  }
}

function isSame(one: object, other: object): boolean {
  const members = Object.keys(one) as (keyof typeof one)[];
  return members.length === Object.keys(other).length && members.every((name) => one[name] === other[name]);
}
