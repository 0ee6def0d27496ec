// One notification: what happened, to what, in which project; numbered in the order of emission.
import { lineText } from './json.ts';

/** Adds the member `sequence` to a message's text: its number, and the epoch of the bus that it is counted from. */
export function withSequence(line: string, epoch: string, sequence: number): string {
  return `${line.slice(0, -1)},"sequence":"${epoch}-${sequence}"}`;
}

export class Message {
  readonly action: string;
  readonly event: object;
  /** The project that the event belongs to, if it belongs to one. */
  readonly projectId: string | undefined;
  /** Position in the order of emission of its bus, from 1. */
  readonly sequence: number;
  /** When it was emitted, on the clock of `performance.now()`. */
  readonly at = performance.now();
  readonly #text: { plain?: string; scoped?: string } = {};

  constructor(action: string, event: object, projectId: string | undefined, sequence: number) {
    this.action = action;
    this.event = event;
    this.projectId = projectId;
    this.sequence = sequence;
  }

  /** `{"action": ..., "event": ...}` on one line; made once, however many listeners there are. */
  get line(): string {
    this.#text.plain ??= lineText({ action: this.action, event: this.event });
    return this.#text.plain;
  }

  /** The same with `project_id` beside them, as computes tell their controllers. */
  get scopedLine(): string {
    if (this.projectId === undefined) return this.line;
    this.#text.scoped ??= lineText({ action: this.action, event: this.event, project_id: this.projectId });
    return this.#text.scoped;
  }
}
