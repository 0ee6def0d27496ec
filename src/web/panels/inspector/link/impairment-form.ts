// What is typed of the impairments of both directions, beside what the link has.
import { computed, type Signal, signal } from '@preact/signals';
import type { Field } from '../../../forms/schema.ts';
import type { History } from '../../../model/lab/undo.ts';
import { sentenceOf } from '../../../model/server/sentence.ts';
import type { Directions, Impairments, LinkObject } from '../../../model/server/types.ts';

export const DIRECTIONS = ['forward', 'backward'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** A kind of impairment, `delay`, with its fields by the server's schema. */
export interface Member {
  name: string;
  fields: readonly Field[];
}

type Typed = string | boolean;

const NOTHING: Directions = { forward: {}, backward: {} };

/** A part of a refusal begins with the path of the member that it is about. */
const PLACE = /^impairments\.(\w+\.\w+\.\w+): (.+)$/s;
const PART = /; (?=impairments\.)/;

export class ImpairmentForm {
  readonly members: readonly Member[];
  /** What was typed and not applied yet, by `forward.delay.ms`. */
  readonly typed = signal<Readonly<Record<string, Typed>>>({});
  /** The server's sentences, by the same names. */
  readonly problems = signal<Readonly<Record<string, string>>>({});
  /** What belongs to no field. */
  readonly message = signal('');
  /** Whether both directions are changed together. */
  readonly chained = signal(false);
  readonly changes = computed(() => Object.keys(this.typed.value).length);
  readonly #has: Signal<Directions>;

  /** @param has what there is already */
  constructor(members: readonly Member[], has: Directions | null | undefined) {
    this.members = members;
    this.#has = signal(has ?? NOTHING);
  }

  /** What the link has now; what was typed stays. */
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

  /** As if all of this had been typed. */
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

  /** Whether anything is asked for of this kind, in either direction. */
  uses({ name, fields }: Member): boolean {
    return DIRECTIONS.some((direction) => fields.some((field) => isGiven(this.value(direction, name, field))));
  }

  /** What is asked of a direction, as the API takes it. */
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

  /** Applies all of it. What is refused is marked at its field, and stays. */
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

/** What is no number goes as it is: the server says what is wrong with it. */
function sent(field: Field, value: Typed): unknown {
  if (field.kind !== 'integer' && field.kind !== 'number') return value;
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
}
