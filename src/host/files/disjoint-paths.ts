// Whether directories have nothing in common, whatever links lead to them.
import { isBelow, whereItWouldBe } from './relative-path.ts';

/** Whether neither of two directories is the other one or lies in it, links resolved as far as they exist. */
export async function areApart(one: string, other: string): Promise<boolean> {
  const [here, there] = [await whereItWouldBe(one), await whereItWouldBe(other)];
  return here !== there && !isBelow(here, there) && !isBelow(there, here);
}
