// The state of a form. Input is kept until the server accepts it, whatever else happens meanwhile.
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { sentenceOf } from '../model/server/sentence.ts';
import { placed } from './refusal.ts';
import type { Field } from './schema.ts';
import { isEqual, MIXED, type ProblemWords, parsed, type Typed, typedOf, typedSince } from './values.ts';

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
  /** The input of the request that is running. */
  #sent: Readonly<Record<string, Typed>> = {};

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

  /** Whether the nodes of the form differ in it. */
  isMixed({ name }: Field): boolean {
    return this.base.value[name] === MIXED;
  }

  /** Records input. Typing the present value is no change. */
  type(field: Field, typed: Typed): void {
    batch(() => {
      if (this.#isPresent(field, typed)) this.#forget(field.name);
      else this.typed.value = { ...this.typed.value, [field.name]: typed };
      this.#forgetProblems(field.name);
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
        if (this.#isPresent(field, typed)) this.type(field, typed);
        else if (!this.isBusy.value) this.foreign.value = { ...this.foreign.value, [field.name]: base[field.name] };
      }
    });
  }

  /** Replaces the input with the other client's value. */
  takeForeign(field: Field): void {
    batch(() => {
      this.#forget(field.name);
      this.#forgetProblems(field.name);
    });
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
      // What may be absent is left out at its default.
      if (typed === undefined && (!this.#whole || field.mayBeAbsent)) continue;
      const result = parsed(field, typed ?? this.#ofBase(field), this.#words);
      if ('problems' in result) {
        Object.assign(problems, result.problems);
        continue;
      }
      // An emptied field goes back to its default.
      const isEmptied = (result.value ?? null) === null && this.#ofBase(field) !== '';
      const value = (isEmptied ? field.byDefault : undefined) ?? result.value;
      if (value !== undefined) changes[field.name] = value;
      else if (isEmptied) problems[field.name] = this.#words.needed;
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
    this.#sent = sent;
    this.isBusy.value = true;
    try {
      const base = await send(changes);
      batch(() => {
        this.typed.value = typedSince(this.typed.value, sent);
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
      this.#sent = {};
      this.isBusy.value = false;
      for (const field of this.fields) {
        const typed = this.typed.value[field.name];
        if (typed !== undefined && this.#isPresent(field, typed)) this.#forget(field.name);
      }
    }
  }

  #ofBase(field: Field): Typed {
    const value = this.base.value[field.name];
    return typedOf(field, value === undefined && (this.#whole || field.mayBeAbsent) ? field.byDefault : value);
  }

  /** Whether the input is the present value, so that it is no change. */
  #isPresent(field: Field, typed: Typed): boolean {
    // The request that is running replaces the present value.
    if (field.name in this.#sent) return false;
    // Emptied text goes back to the different values, and is not emptied in all nodes.
    return this.isMixed(field) ? typed === '' && !field.choices.includes('') : isEqual(typed, this.#ofBase(field));
  }

  #forgetProblems(name: string): void {
    this.problems.value = Object.fromEntries(
      Object.entries(this.problems.value).filter(([path]) => path !== name && !path.startsWith(`${name}.`)),
    );
  }

  /** Drops the input. */
  #forget(name: string): void {
    const { [name]: _typed, ...typed } = this.typed.value;
    const { [name]: _foreign, ...foreign } = this.foreign.value;
    this.typed.value = typed;
    this.foreign.value = foreign;
  }
}
