// Checks that directories are disjoint, with links resolved.
import { isBelow, resolveExisting } from './relative-path.ts';

/** Whether neither directory is or contains the other. Links are resolved where they exist. */
export async function disjointPaths(one: string, other: string): Promise<boolean> {
  const [here, there] = [await resolveExisting(one), await resolveExisting(other)];
  return here !== there && !isBelow(here, there) && !isBelow(there, here);
}
