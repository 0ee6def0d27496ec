// A schedule of a cable's impairments, timed by the fabric's own clock.

import type { CableImpairments, SchedulePlan, ScheduleState } from '../model.ts';
import { Timer, type Timers } from './timers.ts';

/** Longest single timer, for plans without an end. */
const LONGEST_TIMER_MS = 86_400_000;

export class Schedule {
  readonly #plan: SchedulePlan;
  readonly #apply: (impairments: CableImpairments) => void;
  readonly #timer: Timer;
  readonly #start: number;
  #state: ScheduleState['state'] = 'running';
  #round = 0;
  /** Index of the next change. */
  #next = 0;
  /** In ms, when it ended. */
  #elapsed = 0;

  /** Starts at once, or is as if it had started `elapsed` ms ago. `apply` gets the impairments of each change, and `plan.base` at the end. */
  constructor(plan: SchedulePlan, timers: Timers, apply: (impairments: CableImpairments) => void, elapsed = 0) {
    this.#plan = plan;
    this.#apply = apply;
    this.#timer = new Timer(timers, () => this.#go());
    this.#start = performance.now() - elapsed;
    this.#go();
  }

  /** Ends the schedule and restores the impairments from before it. */
  cancel(): void {
    if (this.#state === 'running') this.#end('cancelled', performance.now() - this.#start);
  }

  state(): ScheduleState {
    const elapsed = this.#state === 'running' ? performance.now() - this.#start : this.#elapsed;
    return { state: this.#state, round: this.#round, change: this.#next - 1, elapsed };
  }

  /** Applies all changes that are due. Delays do not add up. */
  #go(): void {
    const { changes, period, rounds } = this.#plan;
    const now = performance.now();
    for (;;) {
      const roundStart = this.#start + (this.#round === 0 ? 0 : this.#round * period);
      const change = changes[this.#next];
      const due = change === undefined ? roundStart + period : roundStart + change.at;
      if (due > now) {
        this.#timer.start(Math.min(due - now, LONGEST_TIMER_MS));
        return;
      }
      if (change !== undefined) {
        this.#next++;
        this.#apply(change.impairments);
      } else if (rounds !== 0 && this.#round + 1 === rounds) {
        this.#end('finished', rounds * period);
        return;
      } else {
        // Rounds missed while the host slept are skipped, except the last one, which ends the schedule.
        const last = rounds === 0 ? Infinity : rounds - 1;
        this.#round = Math.max(this.#round + 1, Math.min(Math.floor((now - this.#start) / period), last));
        this.#next = 0;
      }
    }
  }

  #end(state: 'finished' | 'cancelled', elapsed: number): void {
    this.#timer.stop();
    this.#state = state;
    this.#elapsed = elapsed;
    this.#apply(this.#plan.base);
  }
}
