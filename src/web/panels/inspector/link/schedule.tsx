// The schedule of a link: when which line holds, as a strip of time, and a form for a new one.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LabContext } from '../../../lab-context.ts';
import { api } from '../../../model/api.ts';
import type { LinkObject, PresetObject, ScheduleObject } from '../../../model/types.ts';
import { WORDS } from '../../../words.ts';

const words = WORDS.schedule;
const POLL_MS = 1000;
const DEAD = 'dead';

interface ScheduleProps {
  context: LabContext;
  link: LinkObject;
  presets: readonly PresetObject[];
}

interface Step {
  at: string;
  for: string;
  what: string;
}

export function Schedule({ context: { lab }, link, presets }: ScheduleProps) {
  const path = `${lab.path}/links/${link.link_id}/schedule`;
  const isOpen = useSignal(false);
  const state = useSignal<ScheduleObject | undefined>(undefined);
  const steps = useSignal<readonly Step[]>([{ at: '5', for: '5', what: DEAD }]);
  const rounds = useSignal('1');
  const period = useSignal('');
  const problem = useSignal('');
  useEffect(() => {
    if (!isOpen.value) return;
    const read = (): void => {
      if (document.hidden) return;
      api.get<ScheduleObject>(path).then(
        (told) => {
          state.value = told;
        },
        (error: Error) => {
          problem.value = error.message;
        },
      );
    };
    read();
    const timer = setInterval(read, POLL_MS);
    return () => clearInterval(timer);
  }, [path, isOpen.value, state, problem]);
  const attempt = async (task: () => Promise<unknown>): Promise<void> => {
    problem.value = '';
    try {
      await task();
      state.value = await api.get<ScheduleObject>(path);
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  const start = (event: Event): void => {
    event.preventDefault();
    const body = {
      steps: steps.value.map((step) => ({
        at: numberOr(step.at),
        ...(step.for.trim() !== '' && { for: numberOr(step.for) }),
        ...(step.what === DEAD ? { both: { loss: { percent: 100 } } } : { preset: step.what }),
      })),
      rounds: numberOr(rounds.value),
      ...(period.value.trim() !== '' && { period: numberOr(period.value) }),
    };
    void attempt(() => api.post(path, body));
  };
  const change = (index: number, changed: Partial<Step>): void => {
    steps.value = steps.value.map((step, at) => (at === index ? { ...step, ...changed } : step));
  };
  return (
    <details
      class="schedule"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{words.title}</summary>
      {state.value && <Strip state={state.value} />}
      <form onSubmit={start}>
        {steps.value.map((step, index) => (
          <p key={index} class="step">
            <Small label={words.at} value={step.at} change={(at) => change(index, { at })} />
            <Small label={words.for} value={step.for} change={(length) => change(index, { for: length })} />
            <select
              aria-label={words.what}
              value={step.what}
              onChange={({ currentTarget }) => change(index, { what: currentTarget.value })}
            >
              <option value={DEAD}>{words.dead}</option>
              {presets.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
            <button
              type="button"
              aria-label={words.removeStep(index + 1)}
              onClick={() => {
                steps.value = steps.value.filter((_, at) => at !== index);
              }}
            >
              ×
            </button>
          </p>
        ))}
        <p class="tools">
          <button
            type="button"
            onClick={() => {
              const last = Number(steps.value.at(-1)?.at ?? 0) + Number(steps.value.at(-1)?.for ?? 0);
              steps.value = [...steps.value, { at: String(last || 0), for: '5', what: DEAD }];
            }}
          >
            {words.add}
          </button>
          <Small
            label={words.period}
            value={period.value}
            change={(text) => {
              period.value = text;
            }}
          />
          <Small
            label={words.rounds}
            value={rounds.value}
            change={(text) => {
              rounds.value = text;
            }}
          />
        </p>
        <p class="tools">
          <button type="submit">{words.start}</button>
          <button
            type="button"
            disabled={state.value?.state !== 'running'}
            onClick={() => void attempt(() => api.delete(path))}
          >
            {words.cancel}
          </button>
        </p>
        <p class="problem" role="alert">
          {problem}
        </p>
      </form>
    </details>
  );
}

/** What is no number goes as it is: the server says what is wrong with it. */
function numberOr(text: string): unknown {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

function Small({ label, value, change }: { label: string; value: string; change: (text: string) => void }) {
  return (
    <label>
      {label}{' '}
      <input
        class="small"
        inputMode="decimal"
        value={value}
        autocomplete="off"
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  );
}

/** Time from left to right, the steps in it, and the moment. */
function Strip({ state: { state, elapsed = 0, round, rounds, period, steps = [] } }: { state: ScheduleObject }) {
  if (state === 'none') return <p class="empty">{words.none}</p>;
  const end = period ?? Math.max(1, ...steps.map((step) => step.at + (step.for ?? 0)));
  const percent = (seconds: number): string => `${Math.min(100, (seconds / end) * 100)}%`;
  return (
    <>
      <div class="strip" role="img" aria-label={words.moment(elapsed, end)}>
        {steps.map((step, index) => (
          <span
            key={index}
            class="strip-step"
            style={{ left: percent(step.at), width: percent(step.for ?? end - step.at) }}
          />
        ))}
        {state === 'running' && <span class="strip-moment" style={{ left: percent(elapsed) }} />}
      </div>
      <p role="status">
        {words.states[state] ?? state}
        {round !== undefined && `, ${words.round(round, rounds ?? 1)}`}
      </p>
    </>
  );
}
