// Names reserved for the server's unfinished files. A client's file of such a name could be removed, or taken for the
// server's own at the next start.
import { forbidden } from '../../failures.ts';
import { isTemporaryName } from './atomic-file.ts';

/** Prefix of the folders in which projects are assembled. */
export const STAGING_PREFIX = '.labwire-staging-';

/** Whether the server owns files of this name and removes them when they are not in use. */
export function isReservedName(name: string): boolean {
  return name.startsWith(STAGING_PREFIX) || isTemporaryName(name);
}

/** @throws Failure `forbidden` for a path with a reserved name in any of its parts */
export function refuseReservedNames(path: string, shownAs = path): void {
  const reserved = path.split('/').find(isReservedName);
  if (reserved === undefined) return;
  throw forbidden(`${shownAs}: names like "${reserved}" are the server's own; choose another.`);
}
