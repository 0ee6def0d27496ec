// A schedule as a strip: time from left to right, the steps, and the present moment.
import type { ScheduleObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';

const words = WORDS.schedule;

/** @param label for screen readers; the present moment by default */
export function Strip({ state, label }: { state: ScheduleObject; label?: string }) {
  const { elapsed = 0, period, steps = [] } = state;
  const end = period ?? Math.max(1, ...steps.map((step) => step.at + (step.for ?? 0)));
  const percent = (seconds: number): string => `${Math.min(100, (seconds / end) * 100)}%`;
  return (
    <div class="strip" role="img" aria-label={label ?? words.moment(elapsed % end, end)}>
      {steps.map((step, index) => (
        <span
          key={index}
          class="strip-step"
          title={words.span(index + 1, step.at, step.for)}
          style={{ left: percent(step.at), width: percent(step.for ?? end - step.at) }}
        >
          {index + 1}
        </span>
      ))}
      {state.state === 'running' && <span class="strip-moment" style={{ left: percent(elapsed % end) }} />}
    </div>
  );
}

export function lengthOf({ period, steps = [] }: ScheduleObject): number {
  return period ?? Math.max(0, ...steps.map((step) => step.at + (step.for ?? 0)));
}
