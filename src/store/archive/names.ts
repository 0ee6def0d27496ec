// Rules for names in project archives and for targets of links, the same for writing and reading. Every archive written
// here can be read again, and a hostile one leads nowhere outside its own directory.

import { isReservedName } from '../../host/files/reserved-names.ts';

/** `host/files/contained-files.ts` writes no longer paths. */
const LONGEST_NAME_BYTES = 3_000;
const LONGEST_PART_BYTES = 255;
/** Levels; `host/files/contained-files.ts` writes no deeper. */
const DEEPEST = 100;
/** As many links as Linux follows in one path. */
const MOST_HOPS = 40;
/** Parts of a target, with those of the links on its way. */
const MOST_STEPS = 1_000;

/**
 * Why a path cannot be an entry's name; undefined for a valid one: relative, with `/` between its parts, none at the
 * end.
 */
export function nameProblem(path: string): string | undefined {
  if (path.includes('\0')) return 'it holds a NUL character';
  if (path.includes('\\')) return "it holds a '\\'";
  if (path.startsWith('/') || /^[a-zA-Z]:/.test(path)) return 'it is absolute';
  if (!path.isWellFormed() || path.includes('\uFFFD')) return 'it is not valid text';
  if (Buffer.byteLength(path) > LONGEST_NAME_BYTES) return `it is longer than ${LONGEST_NAME_BYTES} bytes`;
  const parts = path.split('/');
  if (parts.length > DEEPEST) return `it is more than ${DEEPEST} levels deep`;
  if (parts.includes('..') || parts.includes('.') || parts.includes('')) return "a part of it is '..', '.' or empty";
  if (parts.some(isReservedName)) return "a part of it is a name of the server's own";
  if (parts.some((part) => Buffer.byteLength(part) > LONGEST_PART_BYTES))
    return `a part is longer than ${LONGEST_PART_BYTES} bytes`;
  return undefined;
}

/** Rules of a project for the links in its archives, by the names of the links. */
export interface LinkRules {
  /** It may be absolute: it means a place within a container, and this host never follows it. */
  mayBeAbsolute(name: string): boolean;
  /** If it is absolute, archives leave it out: its node makes it again. */
  isMadeAgain(name: string): boolean;
}

export const NO_LINK_RULES: LinkRules = { mayBeAbsolute: () => false, isMadeAgain: () => false };

/**
 * Whether a link's target is inside the directory of all `links` (name -> target). Other links of the archive may be on
 * the way, so each part is followed as the kernel would.
 */
export function leadsInside(name: string, links: ReadonlyMap<string, string>, { mayBeAbsolute }: LinkRules): boolean {
  const pending = name.split('/');
  let place: string[] = [];
  for (let hops = 0, steps = 0; pending.length > 0; steps += 1) {
    // An archive has nothing there, and a check of many such links would take hours.
    if (place.length > DEEPEST || steps > MOST_STEPS) return false;
    const part = pending.shift() as string;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (place.pop() === undefined) return false;
      continue;
    }
    place.push(part);
    const target = links.get(place.join('/'));
    if (target === undefined) continue;
    hops += 1;
    if (hops > MOST_HOPS || target.includes('\0')) return false;
    if (target.startsWith('/')) return mayBeAbsolute(name) && mayBeAbsolute(place.join('/'));
    place = place.slice(0, -1);
    pending.unshift(...target.split('/'));
  }
  return true;
}
