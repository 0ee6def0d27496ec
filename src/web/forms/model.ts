// The state of a form. Input is kept until the server accepts it, whatever else happens meanwhile.
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { sentenceOf } from '../model/server/sentence.ts';
import { placed } from './refusal.ts';
import type { Field } from './schema.ts';
import { isEqual, type ProblemWords, parsed, type Typed, typedOf } from './values.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface FormOptions {
  fields: readonly Field[];
  /** The present values. */
  base: Values;
  words: ProblemWords;
  /** Send everything, not only what differs from `base`, to create something. */
  whole?: boolean;
}

export class FormModel {
  readonly fields: readonly Field[];
  /** The server's values, as last received. */
  readonly base: Signal<Values>;
  /** Input that is not saved yet, by field. */
  readonly typed = signal<Readonly<Record<string, Typed>>>({});
  /** By the path of a field. */
  readonly problems = signal<Readonly<Record<string, string>>>({});
  /** An error that belongs to no field. */
  readonly message = signal('');
  readonly isBusy = signal(false);
  /** Values that another client changed while the field was being edited, by name. */
  readonly foreign = signal<Values>({});
  /** Number of fields that differ from the server's values. */
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

  /** The value that the field shows. */
  shown(field: Field): Typed {
    const typed = this.typed.value[field.name];
    return typed ?? this.#ofBase(field);
  }

  /** Records input. Typing the present value is no change. */
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

  /** Takes the server's new values. Input stays; fields that another client changed as well are marked. */
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

  /** Replaces the input with the other client's value. */
  takeForeign(field: Field): void {
    this.type(field, this.#ofBase(field));
  }

  /** Discards all input. */
  discard(): void {
    batch(() => {
      this.typed.value = {};
      this.problems.value = {};
      this.foreign.value = {};
      this.message.value = '';
    });
  }

  /** The values to send; undefined if some are invalid, which are then marked. */
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
   * Sends the changes; `send` resolves to the server's new values. Resolves to whether the server accepted them. After a failure the input
   * stays, and the error is shown at the field that it names.
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
        // Input typed while the request was running is kept for the next save.
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
