// Input for the impairments of both directions, with the link's present values.
import { computed, type Signal, signal } from '@preact/signals';
import type { Field } from '../../../forms/schema.ts';
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
  /** Whether both directions are changed together. */
  readonly chained = signal(false);
  readonly changes = computed(() => Object.keys(this.typed.value).length);
  readonly #has: Signal<Directions>;

  /** @param has the present values */
  constructor(members: readonly Member[], has: Directions | null | undefined) {
    this.members = members;
    this.#has = signal(has ?? NOTHING);
  }

  /** Takes the link's new values; input stays. */
  take({ impairments }: LinkObject): void {
    this.#has.value = impairments ?? NOTHING;
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
    for (const each of this.chained.value ? DIRECTIONS : [direction]) {
      const key = keyOf(each, member, field);
      if (value === this.#kept(each, member, field)) delete typed[key];
      else typed[key] = value;
    }
    this.typed.value = typed;
  }

  /** Fills the form as if typed. */
  fill(wanted: Directions): void {
    const chained = this.chained.value;
    this.chained.value = false;
    for (const direction of DIRECTIONS) {
      for (const { name, fields } of this.members) {
        for (const field of fields) {
          const value = (wanted[direction] as Impairments)[name]?.[field.name];
          this.type(direction, name, field, field.kind === 'flag' ? value === true : String(value ?? ''));
        }
      }
    }
    this.chained.value = chained;
  }

  discard(): void {
    this.typed.value = {};
    this.problems.value = {};
    this.message.value = '';
  }

  /** Whether either direction uses this kind. */
  uses({ name, fields }: Member): boolean {
    return DIRECTIONS.some((direction) => fields.some((field) => isGiven(this.value(direction, name, field))));
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
    this.problems.value = {};
    this.message.value = '';
    try {
      const fields = { impairments: none ? null : { forward, backward } };
      const [now] = await history.update([{ kind: 'link', id, fields }]);
      this.#has.value = (now?.['impairments'] as Directions | null | undefined) ?? NOTHING;
      this.typed.value = {};
      return true;
    } catch (error) {
      this.#refused(sentenceOf(error));
      return false;
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

const isGiven = (value: Typed): boolean => value !== '' && value !== false;

/** Text that is no number is sent unchanged, so that the server explains the error. */
function sent(field: Field, value: Typed): unknown {
  if (field.kind !== 'integer' && field.kind !== 'number') return value;
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
}
