// Names in the paths of requests.
import { invalid } from '../../failures.ts';

/** Whether it can be a part of a path: requests resolve the others, even encoded ones, and so lead to another route. */
export const isPathPart = (name: string): boolean => !['', '.', '..'].includes(name);

/** @throws Failure `invalid` */
export function encodedName(name: string): string {
  if (!isPathPart(name)) throw invalid(`"${name}" is not a name; give another one.`);
  return encodeURIComponent(name);
}

/** A path of several names. @throws Failure `invalid` */
export const encodedPath = (path: string): string => path.split('/').map(encodedName).join('/');
