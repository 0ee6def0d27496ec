// The impairments of a link: both directions side by side, requested and achieved values.
import { useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { impairmentMembers } from '../../../forms/document.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { LinkObject, PresetObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';
import type { TabProps } from '../tabs.tsx';
import { Achieved } from './achieved.tsx';
import { Filters } from './filters.tsx';
import { ImpairmentForm, type Member } from './impairment-form.ts';
import { ImpairmentFields } from './member-fields.tsx';
import { presetTitle } from './preset-title.ts';
import { Schedule } from './schedule.tsx';

const words = WORDS.impairments;

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
      <form class="impairments" onSubmit={(event) => void apply(event)}>
        <Changing context={context}>
          <Presets form={form} presets={presets} names={names} />
          <ImpairmentFields form={form} titles={titles} />
          <p class="problem" role="alert">
            {form.message}
          </p>
          {form.changes.value > 0 && (
            <p class="apply">
              {words.changes(form.changes.value)}{' '}
              <button type="submit" class="main">
                {words.apply}
              </button>{' '}
              <button type="button" onClick={() => form.discard()}>
                {words.discard}
              </button>
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

function Presets({ form, presets, names }: PresetsProps) {
  const chosen = useSignal('');
  const subscriber = useSignal(0);
  const preset = presets.find(({ name }) => name === chosen.value);
  const fill = (): void => {
    const found = presets.find(({ name }) => name === chosen.value);
    if (!found) return;
    const { up, down } = found;
    form.fill(subscriber.value === 0 ? { forward: up, backward: down } : { forward: down, backward: up });
  };
  return (
    <>
      <p class="presets">
        <label>
          {words.preset}{' '}
          <select
            value={chosen.value}
            onChange={({ currentTarget }) => {
              chosen.value = currentTarget.value;
              fill();
            }}
          >
            <option value="">{words.noPreset}</option>
            {presets.map(({ name }) => (
              <option key={name} value={name}>
                {presetTitle(name)}
              </option>
            ))}
          </select>
        </label>{' '}
        <label>
          {words.subscriber}{' '}
          <select
            value={String(subscriber.value)}
            onChange={({ currentTarget }) => {
              subscriber.value = Number(currentTarget.value);
              fill();
            }}
          >
            {names.map((name, index) => (
              <option key={name} value={String(index)}>
                {name}
              </option>
            ))}
          </select>
        </label>
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
