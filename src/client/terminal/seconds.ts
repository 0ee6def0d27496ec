// Parses durations on the command line.
import { WrongUsage } from '../../commands/wrong-usage.ts';

/** @throws WrongUsage */
export function secondsOf(flag: string, given: string | undefined, usual: number): number {
  if (given === undefined) return usual;
  const seconds = Number(given);
  if (given.trim() === '' || !(seconds > 0) || seconds > 86_400) {
    throw new WrongUsage(`${flag} "${given}": write seconds, more than 0 and at most 86400.`);
  }
  return seconds;
}
