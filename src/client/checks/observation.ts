// Repeats a check until it passes or its time is over, because routing takes a while to converge.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, messageOf } from '../../failures.ts';

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
 * Repeats until the check passes or the time is over; the last result counts. A Failure counts as a result.
 * @param look gets the remaining seconds
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
