// The impairments of a link: both directions side by side, requested and achieved values.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { impairmentMembers } from '../../../forms/document.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { LinkObject, PresetObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { Options } from '../../choice.tsx';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';
import type { TabProps } from '../tabs.tsx';
import { Achieved } from './achieved-effect.tsx';
import { Filters } from './filters.tsx';
import { ImpairmentForm, type Member } from './impairment-form.ts';
import { ImpairmentFields } from './member-fields.tsx';
import { presetOf, presetTitle } from './presets.ts';
import { Schedule } from './schedule.tsx';

const words = WORDS.impairments;
/** Choices beside the presets, whose names are words: no impairments, and values of no preset. */
const NONE = '-';
const OWN = '';

export function ImpairmentsTab(props: TabProps<LinkObject>) {
  const {
    value: loaded,
    problem,
    again,
  } = useLoaded(() => Promise.all([membersInOrder(), api.get<PresetObject[]>('/impairments/presets')]), []);
  const [members, presets] = loaded.value ?? [];
  if (problem.value) return <Message text={problem.value} again={again} />;
  if (!members || !presets) return null;
  return <Impairments {...props} members={members} presets={presets} />;
}

/** The most used ones first. */
async function membersInOrder(): Promise<Member[]> {
  const order = Object.keys(words.members);
  const members = await impairmentMembers();
  return members.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
}

interface Loaded {
  members: readonly Member[];
  presets: readonly PresetObject[];
}

function Impairments({ context, object: link, members, presets }: TabProps<LinkObject> & Loaded) {
  const { lab, history } = context;
  // Another link gets another form, because its details are remounted.
  const [form] = useState(() => new ImpairmentForm(members, link.impairments));
  useEffect(() => form.take(link), [form, link]);
  useEffect(() => lab.counters.watch(), [lab]);
  const element = useRef<HTMLFormElement>(null);
  const digits = context.typedDelay.value;
  useLayoutEffect(() => {
    if (digits === '') return;
    form.typeDelay(digits);
    // The field gets its value first; further digits come here until it has the focus.
    const frame = requestAnimationFrame(() => {
      const field = element.current?.querySelector<HTMLInputElement>('[id$=".delay.ms"]');
      field?.focus();
      if (field && document.activeElement === field) context.typedDelay.value = '';
    });
    return () => cancelAnimationFrame(frame);
  }, [digits, context, form]);
  const names = link.nodes.map((end) => lab.nodes.get(end.node_id)?.name ?? '');
  const titles = { forward: names.join(' → '), backward: names.toReversed().join(' → ') };
  const apply = async (event: Event): Promise<void> => {
    event.preventDefault();
    const element = event.currentTarget as HTMLElement;
    if (!(await form.apply(history, link.link_id)))
      element.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  };
  return (
    <>
      <form ref={element} class="impairments" onSubmit={(event) => void apply(event)}>
        <Changing context={context}>
          <Presets form={form} presets={presets} names={names} />
          <ImpairmentFields form={form} titles={titles} />
          <p class="problem" role="alert">
            {form.message}
          </p>
          {form.changes.value > 0 && (
            <p class="apply">
              {words.changes(form.changes.value)} <Button type="submit" class="main" text={words.apply} />{' '}
              <Button onClick={() => form.discard()} text={words.discard} />
            </p>
          )}
        </Changing>
      </form>
      <Achieved context={context} link={link} titles={titles} />
      <Schedule context={context} link={link} presets={presets} members={members} titles={titles} />
      <Filters context={context} link={link} />
    </>
  );
}

interface PresetsProps {
  form: ImpairmentForm;
  presets: readonly PresetObject[];
  names: readonly string[];
}

/** The preset with the values of the form, or another one to fill them in. */
function Presets({ form, presets, names }: PresetsProps) {
  const [forward, backward] = [form.body('forward'), form.body('backward')];
  const { preset, subscriber = 0 } = presetOf(presets, { forward, backward }) ?? {};
  const isNone = Object.keys({ ...forward, ...backward }).length === 0;
  const fill = (name: string, end: number): void => {
    const { up, down } = presets.find((one) => one.name === name) ?? { up: {}, down: {} };
    form.fill(end === 0 ? { forward: up, backward: down } : { forward: down, backward: up });
  };
  return (
    <>
      <p class="presets">
        <label>
          {words.preset}{' '}
          <select
            value={preset?.name ?? (isNone ? NONE : OWN)}
            onChange={({ currentTarget }) => fill(currentTarget.value, subscriber)}
          >
            <option value={NONE}>{WORDS.links.noImpairments}</option>
            {!preset && !isNone && <option value={OWN}>{words.ownValues}</option>}
            <Options of={presets.map(({ name }) => [name, presetTitle(name)])} />
          </select>
        </label>{' '}
        {preset && !form.chained.value && (
          <label>
            {words.subscriber}{' '}
            <select
              value={String(subscriber)}
              onChange={({ currentTarget }) => fill(preset.name, Number(currentTarget.value))}
            >
              <Options of={names.map((name, index) => [String(index), name])} />
            </select>
          </label>
        )}
      </p>
      {preset && (
        <p>
          <small>
            {preset.description}. {words.source} {preset.source}.
          </small>
        </p>
      )}
    </>
  );
}
