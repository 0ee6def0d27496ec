// Changes of a cable's impairments at set times: the steps of a schedule, gone through by the fabric's own clock.

import type { CableImpairments, SchedulePlan, ScheduleState } from '../model.ts';
import { Timer, type Timers } from './timers.ts';

/** Longest time that a timer is given at once; a plan without an end has none. */
const LONGEST_TIMER_MS = 86_400_000;

export class Schedule {
  readonly #plan: SchedulePlan;
  readonly #apply: (impairments: CableImpairments) => void;
  readonly #timer: Timer;
  readonly #start: number;
  #state: ScheduleState['state'] = 'running';
  #round = 0;
  /** The change that comes next. */
  #next = 0;
  #ended = 0;

  /** Begins at once. `apply` is given the impairments of each change, and those of `plan.base` when it is all over. */
  constructor(plan: SchedulePlan, timers: Timers, apply: (impairments: CableImpairments) => void) {
    this.#plan = plan;
    this.#apply = apply;
    this.#timer = new Timer(timers, () => this.#go());
    this.#start = performance.now();
    this.#go();
  }

  /** Ends it; what it has changed is as it was before. */
  cancel(): void {
    if (this.#state === 'running') this.#end('cancelled');
  }

  state(): ScheduleState {
    const elapsed = (this.#state === 'running' ? performance.now() : this.#ended) - this.#start;
    return { state: this.#state, round: this.#round, change: this.#next - 1, elapsed };
  }

  /** Does all that is due: late ones one after the other, so that nothing is put off by what came late before it. */
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
        this.#end('finished');
        return;
      } else {
        // Rounds that this host has slept through are over, but for the last one, which ends the schedule.
        const last = rounds === 0 ? Infinity : rounds - 1;
        this.#round = Math.max(this.#round + 1, Math.min(Math.floor((now - this.#start) / period), last));
        this.#next = 0;
      }
    }
  }

  #end(state: 'finished' | 'cancelled'): void {
    this.#timer.stop();
    this.#state = state;
    this.#ended = performance.now();
    this.#apply(this.#plan.base);
  }
}
