// One notification: action, payload and project, numbered in the order of emission.
import { lineText } from './json.ts';

/** Adds the member `sequence` to a message's text: the bus's epoch and the message's number. */
export function withSequence(line: string, epoch: string, sequence: number): string {
  return `${line.slice(0, -1)},"sequence":"${epoch}-${sequence}"}`;
}

export class Message {
  readonly action: string;
  readonly event: object;
  /** The event's project, if any. */
  readonly projectId: string | undefined;
  /** Number of the event on its bus, from 1. */
  readonly sequence: number;
  /** Of the run of the server that emitted it. */
  readonly epoch: string;
  /** When it was emitted, by `performance.now()`. */
  readonly at = performance.now();
  readonly #text: { plain?: string; scoped?: string } = {};
  #characters: number | undefined;

  constructor(action: string, event: object, projectId: string | undefined, sequence: number, epoch: string) {
    this.action = action;
    this.event = event;
    this.projectId = projectId;
    this.sequence = sequence;
    this.epoch = epoch;
  }

  /** Characters of all texts in the payload, which are nearly all of its memory. */
  get characters(): number {
    this.#characters ??= charactersOf(this.event);
    return this.#characters;
  }

  /** `{"action": ..., "event": ...}` on one line; created once for all listeners. */
  get line(): string {
    this.#text.plain ??= lineText({ action: this.action, event: this.event });
    return this.#text.plain;
  }

  /** The same with `project_id`, as computes send it to controllers. */
  get scopedLine(): string {
    if (this.projectId === undefined) return this.line;
    this.#text.scoped ??= lineText({ action: this.action, event: this.event, project_id: this.projectId });
    return this.#text.scoped;
  }
}

function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const member of Object.values(value)) sum += charactersOf(member);
  return sum;
}
