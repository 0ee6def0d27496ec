// The schedule of a link as a strip, and a form for a new one.
import { useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { LabContext } from '../../../lab-context.ts';
import { api } from '../../../model/server/api.ts';
import { sentenceOf } from '../../../model/server/sentence.ts';
import type { LinkObject, PresetObject, ScheduleObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';
import type { Direction, Member } from './impairment-form.ts';
import { ScheduleDraft } from './schedule-draft.ts';
import { SmallField, Step } from './schedule-step.tsx';
import { lengthOf, Strip } from './schedule-strip.tsx';

const words = WORDS.schedule;
const POLL_MS = 1000;

interface ScheduleProps {
  context: LabContext;
  link: LinkObject;
  presets: readonly PresetObject[];
  members: readonly Member[];
  titles: Readonly<Record<Direction, string>>;
}

export function Schedule({ context, link, presets, members, titles }: ScheduleProps) {
  const { lab, history } = context;
  const path = `${lab.path}/links/${link.link_id}/schedule`;
  const isOpen = useSignal(false);
  const state = useSignal<ScheduleObject | undefined>(undefined);
  /** Why it could not be read; retried each second. */
  const problem = useSignal('');
  const [draft] = useState(() => new ScheduleDraft(members, presets));
  useEffect(() => {
    if (!isOpen.value) return;
    const read = (): void => {
      if (document.hidden) return;
      api.get<ScheduleObject>(path).then(
        (told) => {
          state.value = told;
          problem.value = '';
          draft.see(told);
        },
        (error: unknown) => {
          problem.value = sentenceOf(error);
        },
      );
    };
    read();
    const timer = setInterval(read, POLL_MS);
    return () => clearInterval(timer);
  }, [path, isOpen.value, state, problem, draft]);
  const attempt = async (plan: object | null): Promise<void> => {
    draft.refused('');
    try {
      await history.schedule(link.link_id, plan);
      if (plan) draft.accepted(plan);
      state.value = await api.get<ScheduleObject>(path);
      draft.see(state.value, plan !== null);
    } catch (error) {
      draft.refused(sentenceOf(error));
    }
  };
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLElement;
    await attempt(draft.body.value);
    form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  };
  const names = link.nodes.map((end) => lab.nodes.get(end.node_id)?.name ?? '');
  return (
    <details
      class="schedule"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{words.title}</summary>
      <Message text={problem.value} />
      {state.value && <Now state={state.value} />}
      {draft.isOther.value && (
        <p class="notice" role="status">
          {words.other} <Button onClick={() => state.value && draft.fill(state.value)} text={words.takeOver} />
        </p>
      )}
      <form onSubmit={(event) => void start(event)}>
        <Changing context={context}>
          {draft.steps.value.map((step, index) => (
            <Step key={index} {...{ draft, step, index, presets, titles, names }} />
          ))}
          <p class="tools">
            <Button onClick={() => draft.add()} text={words.add} />
            <SmallField label={words.period} value={draft.period} problem={draft.problems.value['period']} />
            <SmallField label={words.rounds} value={draft.rounds} problem={draft.problems.value['rounds']} />
          </p>
          <p>
            {words.preview(lengthOf(draft.preview.value))}
            <Strip state={draft.preview.value} label={words.preview(lengthOf(draft.preview.value))} />
          </p>
          <p class="tools">
            <Button type="submit" class="main" text={words.start} />
            <Button
              disabled={state.value?.state !== 'running'}
              onClick={() => void attempt(null)}
              text={words.cancel}
            />
          </p>
          <p class="problem" role="alert">
            {draft.message}
          </p>
        </Changing>
      </form>
    </details>
  );
}

/** The running schedule. */
function Now({ state }: { state: ScheduleObject }) {
  if (state.state === 'none') return <p class="empty">{words.none}</p>;
  return (
    <>
      <Strip state={state} />
      <p role="status">
        {words.states[state.state] ?? state.state}
        {state.round !== undefined && `, ${words.round(state.round, state.rounds ?? 1)}`}
      </p>
    </>
  );
}
