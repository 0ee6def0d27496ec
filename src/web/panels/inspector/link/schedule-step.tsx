// One step of a schedule: start, duration and effect.
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { storeIn } from '../../../model/browser/signal-handlers.ts';
import type { PresetObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { Choice, Options } from '../../choice.tsx';
import type { Direction } from './impairment-form.ts';
import { ImpairmentFields } from './member-fields.tsx';
import { presetTitle } from './presets.ts';
import { CLEAR, DEAD, type ScheduleDraft, type StepDraft, VALUES } from './schedule-draft.ts';

const words = WORDS.schedule;
const WHATS: Readonly<Record<string, string>> = { [DEAD]: words.dead, [CLEAR]: words.clear, [VALUES]: words.values };

interface StepProps {
  draft: ScheduleDraft;
  step: StepDraft;
  index: number;
  presets: readonly PresetObject[];
  titles: Readonly<Record<Direction, string>>;
  names: readonly string[];
}

export function Step({ draft, step, index, presets, titles, names }: StepProps) {
  const what = step.what.value;
  const isPreset = WHATS[what] === undefined;
  return (
    <fieldset class="step">
      <legend>{words.step(index + 1)}</legend>
      <SmallField label={words.at} value={step.at} problem={draft.problems.value[`steps.${index}.at`]} />
      <SmallField label={words.for} value={step.for} problem={draft.problems.value[`steps.${index}.for`]} />
      <select aria-label={words.what} value={what} onChange={storeIn(step.what)}>
        <Options of={[...Object.entries(WHATS), ...presets.map(({ name }) => [name, presetTitle(name)] as const)]} />
      </select>
      {isPreset && (
        <Choice
          label={WORDS.impairments.subscriber}
          chosen={step.subscriber}
          choices={names.map((name, at) => [String(at), name])}
        />
      )}
      <Button aria-label={words.removeStep(index + 1)} onClick={() => draft.remove(index)} text="×" />
      {what === VALUES && (
        <div class="impairments">
          <ImpairmentFields of={`${words.step(index + 1)}, `} form={step.form} titles={titles} />
        </div>
      )}
    </fieldset>
  );
}

interface SmallFieldProps {
  label: string;
  value: Signal<string>;
  problem: string | undefined;
}

export function SmallField({ label, value, problem }: SmallFieldProps) {
  const id = useId();
  return (
    <>
      <label>
        {label}{' '}
        <input
          class="small"
          inputMode="decimal"
          value={value.value}
          autocomplete="off"
          aria-invalid={problem !== undefined}
          aria-describedby={id}
          onInput={storeIn(value)}
        />
      </label>
      <span class="problem" id={id}>
        {problem}
      </span>
    </>
  );
}
