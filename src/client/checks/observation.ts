// What is looked at again and again until it is as it should be, or the time is over: routing takes a while to find its ways.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, messageOf } from '../../failures.ts';

/** One look. */
export interface Look {
  passed: boolean;
  /** In a few words, for people. */
  seen: string;
}

export interface Observation extends Look {
  /** How long it took, with all looks. */
  seconds: number;
  looks: number;
}

const BETWEEN_MS = 1_000;

/**
 * Looks until it passes or the seconds are over; the last look counts. What a look fails of is what was seen.
 * @param look is told how many seconds are left
 */
export async function observe(look: (seconds: number) => Promise<Look>, seconds: number): Promise<Observation> {
  const begin = performance.now();
  const deadline = begin + seconds * 1000;
  for (let looks = 1; ; looks++) {
    const left = Math.max(0.1, (deadline - performance.now()) / 1000);
    const found = await look(left).catch(seenFailure);
    const isOver = performance.now() + BETWEEN_MS >= deadline;
    if (found.passed || isOver) return { ...found, seconds: (performance.now() - begin) / 1000, looks };
    await sleep(BETWEEN_MS);
  }
}

function seenFailure(error: unknown): Look {
  if (error instanceof Failure) return { passed: false, seen: messageOf(error) };
  throw error;
}
