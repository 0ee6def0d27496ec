// Checks that directories are disjoint, with links resolved.
import { isBelow, whereItWouldBe } from './relative-path.ts';

/** Whether neither directory is or contains the other. Links are resolved where they exist. */
export async function areApart(one: string, other: string): Promise<boolean> {
  const [here, there] = [await whereItWouldBe(one), await whereItWouldBe(other)];
  return here !== there && !isBelow(here, there) && !isBelow(there, here);
}
