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

/** The time of a check. It stands still while the check waits for its turn, as behind others at the same console. */
export class Clock {
  readonly #limit: number;
  readonly #begin = performance.now();
  #waitedMs = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How long it has run. */
  get seconds(): number {
    return (performance.now() - this.#begin - this.#waitedMs) / 1000;
  }

  get left(): number {
    return Math.max(0.1, this.#limit - this.seconds);
  }

  /** Stops it; the result lets it run again. */
  stop(): () => void {
    const begin = performance.now();
    return () => {
      this.#waitedMs += performance.now() - begin;
    };
  }
}

/** Repeats until the check passes or its time is over; the last result counts. A Failure counts as a result. */
export async function observe(look: (clock: Clock) => Promise<Look>, seconds: number): Promise<Observation> {
  const clock = new Clock(seconds);
  for (let looks = 1; ; looks++) {
    const found = await look(clock).catch(seenFailure);
    const isOver = clock.seconds + BETWEEN_MS / 1000 >= seconds;
    if (found.passed || isOver) return { ...found, seconds: clock.seconds, looks };
    await sleep(BETWEEN_MS);
  }
}

function seenFailure(error: unknown): Look {
  if (error instanceof Failure) return { passed: false, seen: messageOf(error) };
  throw error;
}
