// Input for the impairments of both directions, with the link's present values.
import { computed, type Signal, signal } from '@preact/signals';
import type { Field } from '../../../forms/schema.ts';
import { typedSince } from '../../../forms/values.ts';
import { isSame } from '../../../model/browser/same-json.ts';
import type { History } from '../../../model/lab/undo.ts';
import { sentenceOf } from '../../../model/server/sentence.ts';
import type { Directions, Impairments, LinkObject } from '../../../model/server/types.ts';

export const DIRECTIONS = ['forward', 'backward'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** A kind of impairment, such as `delay`, with its fields from the server's schema. */
export interface Member {
  name: string;
  fields: readonly Field[];
}

type Typed = string | boolean;

const NOTHING: Directions = { forward: {}, backward: {} };

/** Each part of an error message starts with the path of the member. */
const PLACE = /^impairments\.(\w+\.\w+\.\w+): (.+)$/s;
const PART = /; (?=impairments\.)/;

export class ImpairmentForm {
  readonly members: readonly Member[];
  /** Input not applied yet, by `forward.delay.ms`. */
  readonly typed = signal<Readonly<Record<string, Typed>>>({});
  /** The server's error messages, by the same keys. */
  readonly problems = signal<Readonly<Record<string, string>>>({});
  /** An error that belongs to no field. */
  readonly message = signal('');
  /** Whether both directions are changed together; the form shows them as one. */
  readonly chained: Signal<boolean>;
  /** Number of changed fields; one for both directions counts once. */
  readonly changes = computed(
    () =>
      new Set(Object.keys(this.typed.value).map((key) => (this.chained.value ? key.replace(/^\w+\./, '') : key))).size,
  );
  readonly #has: Signal<Directions>;
  /** The input of the request that is running. */
  #sent: Readonly<Record<string, Typed>> = {};

  /** @param has the present values */
  constructor(members: readonly Member[], has: Directions | null | undefined) {
    this.members = members;
    this.#has = signal(has ?? NOTHING);
    this.chained = signal(isAlike(this.#has.value));
  }

  /** Takes the link's new values; input stays. */
  take({ impairments }: LinkObject): void {
    this.#has.value = impairments ?? NOTHING;
    // Nothing of the second direction may be hidden.
    if (this.changes.value === 0 && !isAlike(this.#has.value)) this.chained.value = false;
  }

  /** Changes both directions together from now on: the second one takes the values of the first. */
  chain(isChained: boolean): void {
    this.chained.value = isChained;
    if (!isChained) return;
    for (const { name, fields } of this.members) {
      for (const field of fields) this.type('forward', name, field, this.value('forward', name, field));
    }
  }

  value(direction: Direction, member: string, field: Field): Typed {
    return this.typed.value[keyOf(direction, member, field)] ?? this.#kept(direction, member, field);
  }

  #kept(direction: Direction, member: string, field: Field): Typed {
    const kept = (this.#has.value[direction] as Impairments)[member]?.[field.name];
    if (field.kind === 'flag') return kept === true;
    return kept === undefined ? '' : String(kept);
  }

  type(direction: Direction, member: string, field: Field, value: Typed): void {
    const typed = { ...this.typed.value };
    const directions = this.#directions(direction);
    // The request that is running replaces the present value.
    const isKept = directions.every(
      (each) => value === this.#kept(each, member, field) && !(keyOf(each, member, field) in this.#sent),
    );
    for (const each of directions) {
      const key = keyOf(each, member, field);
      if (isKept) delete typed[key];
      else typed[key] = value;
    }
    this.typed.value = typed;
  }

  /** Replaces the delay of the first direction, or of both. */
  typeDelay(milliseconds: string): void {
    const field = this.members.find(({ name }) => name === 'delay')?.fields.find(({ name }) => name === 'ms');
    if (field) this.type('forward', 'delay', field, milliseconds);
  }

  /** Fills the form as if typed. */
  fill(wanted: Directions): void {
    this.chained.value = false;
    for (const direction of DIRECTIONS) {
      for (const { name, fields } of this.members) {
        for (const field of fields) {
          const value = (wanted[direction] as Impairments)[name]?.[field.name];
          this.type(direction, name, field, field.kind === 'flag' ? value === true : String(value ?? ''));
        }
      }
    }
    this.chained.value = isAlike(wanted);
  }

  discard(): void {
    this.typed.value = {};
    this.problems.value = {};
    this.message.value = '';
    this.chained.value = isAlike(this.#has.value);
  }

  /** Whether this input is not applied yet. */
  isTyped(direction: Direction, member: string, field: Field): boolean {
    return this.#directions(direction).some((each) => keyOf(each, member, field) in this.typed.value);
  }

  /** The directions that a field shown for this one belongs to. */
  #directions(direction: Direction): readonly Direction[] {
    return this.chained.value ? DIRECTIONS : [direction];
  }

  isGiven(direction: Direction, member: string, field: Field): boolean {
    return isGiven(this.value(direction, member, field));
  }

  /** The impairments of a direction, as the API takes them. */
  body(direction: Direction): Impairments {
    const body: Impairments = {};
    for (const { name, fields } of this.members) {
      const given = fields.filter((field) => isGiven(this.value(direction, name, field)));
      if (given.length === 0) continue;
      body[name] = Object.fromEntries(
        given.map((field) => [field.name, sent(field, this.value(direction, name, field))]),
      );
    }
    return body;
  }

  /** Applies all impairments. Rejected input is marked at its field and stays. */
  async apply(history: History, id: string): Promise<boolean> {
    const [forward, backward] = DIRECTIONS.map((direction) => this.body(direction));
    const none = [forward, backward].every((body) => Object.keys(body!).length === 0);
    const sent = this.typed.value;
    this.#sent = sent;
    this.problems.value = {};
    this.message.value = '';
    try {
      const fields = { impairments: none ? null : { forward, backward } };
      const [now] = await history.update([{ kind: 'link', id, fields }]);
      this.#has.value = (now?.['impairments'] as Directions | null | undefined) ?? NOTHING;
      this.typed.value = typedSince(this.typed.value, sent);
      return true;
    } catch (error) {
      this.#refused(sentenceOf(error));
      return false;
    } finally {
      this.#sent = {};
      this.#forgetPresent();
    }
  }

  /** Input that is the present value again is no change. */
  #forgetPresent(): void {
    for (const direction of DIRECTIONS) {
      for (const { name, fields } of this.members) {
        for (const field of fields)
          if (keyOf(direction, name, field) in this.typed.value)
            this.type(direction, name, field, this.value(direction, name, field));
      }
    }
  }

  #refused(message: string): void {
    const problems: Record<string, string> = {};
    const rest: string[] = [];
    for (const part of message.replace(/^Invalid request: /, '').split(PART)) {
      const [, key, text] = PLACE.exec(part) ?? [];
      if (key !== undefined && text !== undefined) problems[key] ??= text;
      else rest.push(part);
    }
    this.problems.value = problems;
    this.message.value = rest.join('; ');
  }
}

export function keyOf(direction: Direction, member: string, field: Field): string {
  return `${direction}.${member}.${field.name}`;
}

const isAlike = ({ forward, backward }: Directions): boolean => isSame(forward, backward);

const isGiven = (value: Typed): boolean => value !== '' && value !== false;

/** Text that is no number is sent unchanged, so that the server explains the error. */
function sent(field: Field, value: Typed): unknown {
  if (field.kind !== 'integer' && field.kind !== 'number') return value;
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
}
