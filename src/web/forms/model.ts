// A form that is being filled in: what was typed stays until the server has taken it, whatever else happens meanwhile.
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { sentenceOf } from '../model/server/sentence.ts';
import { placed } from './refusal.ts';
import type { Field } from './schema.ts';
import { isEqual, type ProblemWords, parsed, type Typed, typedOf } from './values.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface FormOptions {
  fields: readonly Field[];
  /** What is there already. */
  base: Values;
  words: ProblemWords;
  /** Everything is sent, not only what differs from `base`: something new is made. */
  whole?: boolean;
}

export class FormModel {
  readonly fields: readonly Field[];
  /** What the server has, as far as it is known. */
  readonly base: Signal<Values>;
  /** What was typed into fields and is not yet the server's. */
  readonly typed = signal<Readonly<Record<string, Typed>>>({});
  /** By the path of a field. */
  readonly problems = signal<Readonly<Record<string, string>>>({});
  /** What belongs to no field. */
  readonly message = signal('');
  readonly isBusy = signal(false);
  /** Values of fields that somebody else changed after they were typed into, by name. */
  readonly foreign = signal<Values>({});
  /** How many fields differ from what the server has. */
  readonly changed: ReadonlySignal<number>;
  readonly #words: ProblemWords;
  readonly #whole: boolean;

  constructor({ fields, base, words, whole = false }: FormOptions) {
    this.fields = fields;
    this.base = signal(base);
    this.#words = words;
    this.#whole = whole;
    this.changed = computed(() => Object.keys(this.typed.value).length);
  }

  /** What the field shows. */
  shown(field: Field): Typed {
    const typed = this.typed.value[field.name];
    return typed ?? this.#ofBase(field);
  }

  /** Somebody types. What is there already is no change. */
  type(field: Field, typed: Typed): void {
    batch(() => {
      const { [field.name]: _typed, ...others } = this.typed.value;
      const isBack = isEqual(typed, this.#ofBase(field));
      this.typed.value = isBack ? others : { ...others, [field.name]: typed };
      if (isBack) this.#forgetForeign(field.name);
      this.problems.value = Object.fromEntries(
        Object.entries(this.problems.value).filter(
          ([path]) => path !== field.name && !path.startsWith(`${field.name}.`),
        ),
      );
    });
  }

  /** Takes up what the server has now; what was typed stays, and is marked where somebody else has changed the same. */
  follow(base: Values): void {
    const before = this.base.value;
    if (isEqual(before, base)) return;
    batch(() => {
      this.base.value = base;
      for (const field of this.fields) {
        const typed = this.typed.value[field.name];
        if (typed === undefined || isEqual(before[field.name], base[field.name])) continue;
        if (isEqual(typed, this.#ofBase(field))) this.type(field, typed);
        else if (!this.isBusy.value) this.foreign.value = { ...this.foreign.value, [field.name]: base[field.name] };
      }
    });
  }

  /** What somebody else has set counts, not what was typed. */
  takeForeign(field: Field): void {
    this.type(field, this.#ofBase(field));
  }

  /** Back to what the server has. */
  discard(): void {
    batch(() => {
      this.typed.value = {};
      this.problems.value = {};
      this.foreign.value = {};
      this.message.value = '';
    });
  }

  /** What would be sent; undefined, with the problems marked, if something does not fit. */
  changes(): Record<string, unknown> | undefined {
    const problems: Record<string, string> = {};
    const changes: Record<string, unknown> = {};
    for (const field of this.fields) {
      const typed = this.typed.value[field.name];
      if (typed === undefined && !this.#whole) continue;
      const result = parsed(field, typed ?? this.#ofBase(field), this.#words);
      if ('problems' in result) Object.assign(problems, result.problems);
      else if (result.value !== undefined) changes[field.name] = result.value;
    }
    this.problems.value = problems;
    return Object.keys(problems).length === 0 ? changes : undefined;
  }

  /**
   * Sends what was changed. Resolves to whether the server has taken it; `send` resolves to what the server has then.
   * What was typed stays after any failure, and its reason stands at the field that it names.
   */
  async save(send: (changes: Record<string, unknown>) => Promise<Values | undefined>): Promise<boolean> {
    if (this.isBusy.value) return false;
    this.message.value = '';
    const changes = this.changes();
    if (!changes) return false;
    const sent = this.typed.value;
    this.isBusy.value = true;
    try {
      const base = await send(changes);
      batch(() => {
        // What was typed while the server was busy is still to be sent.
        this.typed.value = Object.fromEntries(
          Object.entries(this.typed.value).filter(([name, typed]) => sent[name] !== typed),
        );
        this.foreign.value = {};
        if (base) this.base.value = base;
      });
      return true;
    } catch (error) {
      const { problems, rest } = placed(
        sentenceOf(error),
        this.fields.map(({ name }) => name),
      );
      batch(() => {
        this.problems.value = problems;
        this.message.value = rest;
      });
      return false;
    } finally {
      this.isBusy.value = false;
    }
  }

  #ofBase(field: Field): Typed {
    const value = this.base.value[field.name];
    return typedOf(field, value === undefined && this.#whole ? field.byDefault : value);
  }

  #forgetForeign(name: string): void {
    const { [name]: _foreign, ...others } = this.foreign.value;
    this.foreign.value = others;
  }
}
