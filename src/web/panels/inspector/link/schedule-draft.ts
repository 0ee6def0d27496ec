// A schedule being edited: its steps as typed, converted from and to the API.
import { computed, type Signal, signal } from '@preact/signals';
import { placed } from '../../../forms/refusal.ts';
import { isSame } from '../../../model/browser/same-json.ts';
import type { Directions, Impairments, PresetObject, ScheduleObject } from '../../../model/server/types.ts';
import { ImpairmentForm, type Member } from './impairment-form.ts';
import { presetOf } from './presets.ts';

/** What a step can do besides presets, which have their own names. */
export const DEAD = 'dead';
export const CLEAR = 'clear';
export const VALUES = 'values';

const LOST: Impairments = { loss: { percent: 100 } };

type ToldStep = NonNullable<ScheduleObject['steps']>[number];

export class StepDraft {
  readonly at: Signal<string>;
  readonly for: Signal<string>;
  readonly what: Signal<string>;
  /** The end with the preset's line, as an index of `nodes`. */
  readonly subscriber = signal('0');
  /** The input if `what` is `VALUES`. */
  readonly form: ImpairmentForm;

  constructor(members: readonly Member[], at: string, length: string, what = DEAD) {
    this.at = signal(at);
    this.for = signal(length);
    this.what = signal(what);
    this.form = new ImpairmentForm(members, undefined);
  }

  /** Creates a step from the server's. */
  static of(told: ToldStep, members: readonly Member[], presets: readonly PresetObject[]): StepDraft {
    const { forward = {}, backward = {} } = told;
    const step = new StepDraft(members, String(told.at), told.for === undefined ? '' : String(told.for), VALUES);
    const isBoth = (wanted: object): boolean => isSame(forward, wanted) && isSame(backward, wanted);
    const known = presetOf(presets, { forward, backward } as Directions);
    if (isBoth(LOST)) step.what.value = DEAD;
    else if (isBoth(nothing(members))) step.what.value = CLEAR;
    else if (known) {
      step.what.value = known.preset.name;
      step.subscriber.value = String(known.subscriber);
    } else step.form.fill({ forward, backward } as Directions);
    return step;
  }

  body(): object {
    const times = {
      at: numberOr(this.at.value),
      ...(this.for.value.trim() !== '' && { for: numberOr(this.for.value) }),
    };
    const what = this.what.value;
    if (what === DEAD) return { ...times, both: LOST };
    if (what === CLEAR) return { ...times, both: nothing(this.form.members) };
    if (what === VALUES) return { ...times, forward: this.form.body('forward'), backward: this.form.body('backward') };
    return { ...times, preset: what, subscriber: Number(this.subscriber.value) };
  }
}

export class ScheduleDraft {
  readonly steps = signal<readonly StepDraft[]>([]);
  readonly period = signal('');
  readonly rounds = signal('1');
  /** The server's error messages by member path, `steps.0.at`. */
  readonly problems = signal<Readonly<Record<string, string>>>({});
  readonly message = signal('');
  /** The request body for the present input. */
  readonly body = computed(() => ({
    steps: this.steps.value.map((step) => step.body()),
    rounds: numberOr(this.rounds.value),
    ...(this.period.value.trim() !== '' && { period: numberOr(this.period.value) }),
  }));
  /** For the preview strip; steps with invalid times are omitted. */
  readonly preview = computed<ScheduleObject>(() => {
    const times = this.steps.value.map(({ at, for: length }) => ({
      at: Number(at.value),
      ...(length.value.trim() !== '' && { for: Number(length.value) }),
    }));
    const steps = times.filter(({ at, for: length = 0 }) => at >= 0 && length >= 0);
    const period = Number(this.period.value) || undefined;
    return { state: 'finished', steps, ...(period !== undefined && { period }) };
  });
  readonly #members: readonly Member[];
  readonly #presets: readonly PresetObject[];
  /** The last filled-in values, to detect input since. */
  #filled: object | undefined;
  /** The last seen schedule of the server. */
  #seen: object | undefined;
  /** Set when the server's schedule changed during editing. */
  readonly isOther = signal(false);

  constructor(members: readonly Member[], presets: readonly PresetObject[]) {
    this.#members = members;
    this.#presets = presets;
    this.steps.value = [new StepDraft(members, '5', '5')];
    this.#filled = this.body.value;
  }

  get #isTouched(): boolean {
    return !isSame(this.#filled, this.body.value);
  }

  /** Takes the server's schedule: filled in unless there is input. @param isOwn the one that was sent from here */
  see(told: ScheduleObject, isOwn = false): void {
    const { steps, rounds, period } = told;
    if (isOwn) this.isOther.value = false;
    if (!steps || isSame(this.#seen, { steps, rounds, period })) return;
    this.#seen = { steps, rounds, period };
    if (!this.#isTouched) this.fill(told);
    else if (!isOwn) this.isOther.value = true;
  }

  fill({ steps = [], rounds = 1, period }: ScheduleObject): void {
    this.steps.value = steps.map((step) => StepDraft.of(step, this.#members, this.#presets));
    this.rounds.value = String(rounds);
    const end = Math.max(...steps.map(({ at, for: length }) => at + (length ?? Infinity)));
    // A round as long as its steps is the default.
    this.period.value = period == null || period === end ? '' : String(period);
    this.accepted();
  }

  /** Marks the input as saved that was sent; what was typed since is kept. */
  accepted(sent: object = this.body.value): void {
    this.#filled = sent;
    this.isOther.value = false;
    this.refused('');
  }

  /** @param message from the server; its parts are shown at their fields */
  refused(message: string): void {
    const { problems, rest } = placed(message, ['steps', 'period', 'rounds']);
    const places: Record<string, string> = {};
    const others = rest === '' ? [] : [rest];
    for (const [path, text] of Object.entries(problems)) {
      const [, index = '', inner] = /^steps\.(\d+)\.(\w+\.\w+\.\w+)$/.exec(path) ?? [];
      if (/^steps\.\d+\.(at|for)$|^(period|rounds)$/.test(path) || inner !== undefined) places[path] = text;
      else others.push(`${path}: ${text}`);
      if (inner !== undefined && this.steps.value[Number(index)]?.what.value !== VALUES)
        others.push(`${path}: ${text}`);
    }
    for (const [index, { form }] of this.steps.value.entries()) {
      const own = Object.entries(places).filter(([path]) => path.startsWith(`steps.${index}.`));
      form.problems.value = Object.fromEntries(own.map(([path, text]) => [path.split('.').slice(2).join('.'), text]));
    }
    this.problems.value = places;
    this.message.value = others.join('; ');
  }

  add(): void {
    const last = this.steps.value.at(-1);
    const at = Number(last?.at.value ?? 0) + Number(last?.for.value ?? 0);
    this.steps.value = [...this.steps.value, new StepDraft(this.#members, String(at || 0), '5')];
  }

  remove(index: number): void {
    this.steps.value = this.steps.value.filter((_, at) => at !== index);
  }
}

/** Removes all impairments of the link. */
function nothing(members: readonly Member[]): Record<string, null> {
  return Object.fromEntries(members.map(({ name }) => [name, null]));
}

/** Text that is no number is sent unchanged, so that the server explains the error. */
function numberOr(text: string): unknown {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}
