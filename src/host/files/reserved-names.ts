// Names that this server keeps for what is not whole yet. Whoever could give something of his own such a name could have it wiped, or
// taken for the server's at its next start.
import { Failure } from '../../failures.ts';
import { isTemporaryName } from './atomic-file.ts';

/** Beginning of the names of folders in which projects are put together. */
export const STAGING_PREFIX = '.labwire-staging-';

/** Whether a file or folder of this name is the server's own, to be removed when nobody works on it. */
export function isReservedName(name: string): boolean {
  return name.startsWith(STAGING_PREFIX) || isTemporaryName(name);
}

/** @throws Failure `forbidden` for a path with a reserved name in any of its parts */
export function refuseReservedNames(path: string, shownAs = path): void {
  const reserved = path.split('/').find(isReservedName);
  if (reserved === undefined) return;
  throw new Failure('forbidden', `${shownAs}: names like "${reserved}" are the server's own; choose another.`);
}
